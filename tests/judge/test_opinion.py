"""What a model's word may change of the rules' verdict, and what it may not."""

from dataclasses import replace

from app.judge.admissible import Grounds
from app.judge.opinion import Weighed, weigh
from app.judge.verdict import judge
from app.located import Located
from app.model import Detected, EndGrade, Ending, Finding, Job, LogFile, Point
from app.opinion import Opinion, Quoted
from tests.small_rules import a_cause, a_finding, a_line, a_rulebook, a_signal

BOOK = a_rulebook(
    [
        a_cause("KeyError", "script"),
        a_cause("RuntimeError", "framework"),
        a_cause("Preempted", "scheduler"),
        a_cause("ECCError", "infrastructure", if_earlier=["Preempted"]),
        a_cause("NCCLTimeoutError", "infrastructure"),
        a_cause("LossSpike", "training"),
        a_cause("Stalled", "training"),
    ],
    [
        a_signal("keyerror", "KeyError"),
        a_signal("raised", "RuntimeError", general=True),
        a_signal("preempted", "Preempted"),
        a_signal("eccerror", "ECCError"),
        a_signal("late", "NCCLTimeoutError"),
        a_signal("killed", "Unknown"),
    ],
)
FILES = (LogFile("rank0.log", 9, 99, 99),)
ECC = a_finding("ECCError", a_line(10), signal="eccerror")
KEY = a_finding("KeyError", a_line(20), signal="keyerror")
CLUE = a_finding("NCCLTimeoutError", a_line(30), signal="late", strength="clue")
ECHO = a_finding("NCCLTimeoutError", a_line(30), signal="late", strength="echo")


def weighed(
    *findings: Finding,
    says: str,
    quotes: tuple[int, ...] = (20,),
    finished: EndGrade | None = None,
    failed: bool = False,
    sure: str = "certain",
    job: Job | None = None,
    words: str = "line",
    points: tuple[Point, ...] = (),
) -> Weighed:
    job = job or Job()
    line = a_line(50, text="training is done") if finished else None
    ending = Ending(finished, line, a_line(60) if failed else None)
    detected = Detected(findings, ending, Located())
    verdict, root = judge(detected, BOOK, FILES, job)
    lines = [a_line(number) for number in (10, 20, 30, 50)]
    grounds = Grounds(detected, root, FILES, job, BOOK, lines, points)
    quoted = tuple(Quoted("rank0.log", number, f"{words} {number}") for number in quotes)
    return weigh(verdict, Opinion(says, sure, quoted, "nothing"), grounds, "rules")


def told(found: Weighed) -> tuple[str, str, str, str]:
    primary = found.verdict.primary
    return primary.cause, primary.confidence, found.method, found.opinion.weight


def test_agreement_on_one_of_two_proofs_makes_sure():
    assert told(weighed(ECC, KEY, says="ECCError")) == ("ECCError", "high", "rules+model", "agrees")


def test_agreement_on_less_than_proof_never_makes_it_high():
    assert told(weighed(CLUE, says="NCCLTimeoutError"))[1] == "medium"
    assert told(weighed(ECHO, says="NCCLTimeoutError"))[1] == "medium"


def test_the_model_chooses_among_the_roots_and_the_other_stays_listed():
    found = weighed(ECC, KEY, says="KeyError")
    assert told(found) == ("KeyError", "medium", "rules+model", "chooses")
    assert [root.cause for root in found.verdict.other_roots] == ["ECCError"]
    assert found.root == KEY
    assert "over ECCError" in found.verdict.remarks[-1]


def test_a_lone_proof_is_never_overruled():
    found = weighed(ECC, says="KeyError")
    assert told(found)[::3] == ("ECCError", "none")
    assert "left aside" in found.verdict.remarks[-1]


def test_a_clue_beside_proofs_is_not_chosen_over_them():
    assert told(weighed(ECC, KEY, CLUE, says="NCCLTimeoutError"))[0] == "ECCError"


def test_the_model_names_what_stands_behind_plain_words_beside_other_roots():
    raised = replace(a_finding("RuntimeError", a_line(10), signal="raised"), general=True)
    assert told(weighed(raised, CLUE, says="NCCLTimeoutError"))[::3] == (
        "NCCLTimeoutError",
        "chooses",
    )
    assert told(weighed(raised, CLUE, says="KeyError"))[::3] == ("KeyError", "names")


def test_who_stopped_the_job_may_be_chosen_over_an_earlier_fault_of_hardware_if_quoted():
    stopped = a_finding("Preempted", a_line(30, time=60.0), signal="preempted", strength="clue")
    worn = a_finding("ECCError", a_line(10, time=1.0), signal="eccerror")
    assert told(weighed(worn, CLUE, stopped, says="Preempted", quotes=(10,)))[0] == "ECCError"
    assert told(weighed(worn, CLUE, stopped, says="Preempted", quotes=(30,)))[::3] == (
        "Preempted",
        "chooses",
    )
    assert told(weighed(KEY, CLUE, stopped, says="Preempted", quotes=(30,)))[0] == "KeyError"


def test_the_model_names_a_cause_where_the_rules_found_none():
    found = weighed(says="KeyError")
    assert told(found) == ("KeyError", "low", "model", "names")
    primary = found.verdict.primary
    assert (primary.domain, primary.signal, primary.strength) == ("script", None, None)
    assert primary.first_seen.line == 20
    assert found.verdict.evidence[0].line == 20


def test_the_model_outweighs_an_echo_and_a_clue_which_stay_as_roots():
    for weak in (ECHO, CLUE):
        found = weighed(weak, says="KeyError")
        assert told(found) == ("KeyError", "low", "model", "names")
        assert [root.cause for root in found.verdict.other_roots] == ["NCCLTimeoutError"]


def test_without_a_standing_quote_there_is_no_opinion():
    found = weighed(CLUE, says="KeyError", quotes=())
    assert told(found) == ("NCCLTimeoutError", "medium", "rules", "none")
    assert "none of its quotes is in the log" in found.verdict.remarks[-1]
    assert told(weighed(ECC, KEY, says="ECCError", quotes=()))[1] == "medium"


def test_unknown_takes_nothing_away():
    assert told(weighed(CLUE, says="Unknown", quotes=()))[0] == "NCCLTimeoutError"
    assert weighed(says="Unknown", quotes=()).opinion.agrees


def test_completed_takes_a_quoted_end_mark():
    assert told(weighed(says="Completed", finished="hint", failed=True, quotes=(50,)))[0] != (
        "Completed"
    )
    assert told(weighed(CLUE, says="Completed", finished="wrapper", quotes=(20,)))[0] != "Completed"
    found = weighed(CLUE, says="Completed", finished="wrapper", quotes=(50,))
    assert told(found) == ("Completed", "low", "rules+model", "chooses")


def done(*findings: Finding, quotes: tuple[int, ...] = (98,), **more) -> str:
    return told(weighed(*findings, says="Completed", quotes=quotes, **{"words": "saved", **more}))[
        0
    ]


def test_words_for_the_end_that_no_rule_knows_count_where_nothing_failed():
    assert done() == "Completed"
    assert done(quotes=(20,)) == "Unknown"  # that is not how it ended
    assert done(words="step") == "Unknown"
    assert done(ECHO) != "Completed"
    assert done(failed=True) == "Unknown"
    assert done(job=Job(exit_code=1)) != "Completed"


def test_a_checkpoint_that_was_saved_is_no_end():
    assert done(words="Saved checkpoint") == "Unknown"
    assert done(words="saving model to run/step_590, line") == "Unknown"
    assert done(words="saved final checkpoint") == "Completed"


def test_a_job_whose_steps_are_not_counted_out_did_not_complete():
    def counted(*steps: int, series: str = "train") -> tuple[Point, ...]:
        return tuple(Point(0, step, series, step=step, total_steps=100) for step in steps)

    assert done(points=counted(10, 20)) == "Unknown"
    assert done(points=counted(10)) == "Unknown"
    assert done(points=counted(60, 80)) == "Completed"  # the next reading would be the last
    assert done(points=counted(98, 99, 100)) == "Completed"
    assert done(points=(*counted(99, 100), *counted(1, 2, series="eval"))) == "Completed"


def test_what_the_model_doubts_itself_changes_nothing():
    found = weighed(CLUE, says="KeyError", sure="doubtful")
    assert told(found) == ("NCCLTimeoutError", found.verdict.primary.confidence, "rules", "none")
    assert told(weighed(says="ECCError", sure="doubtful"))[0] == "Unknown"


def test_a_weak_word_for_the_end_falls_where_a_reader_sees_none():
    found = weighed(says="Unknown", finished="hint", quotes=())
    assert told(found) == ("Unknown", "low", "rules+model", "chooses")
    assert told(weighed(says="Unknown", finished="hint", sure="doubtful"))[0] == "Completed"
    assert told(weighed(ECC, CLUE, says="Unknown", quotes=()))[0] == "ECCError"


def test_a_proof_keeps_the_model_from_completed_though_an_end_is_quoted():
    assert told(weighed(ECC, KEY, says="Completed", finished="wrapper", quotes=(50,)))[0] == (
        "ECCError"
    )


def test_a_finished_job_fails_only_by_a_quoted_proof_of_that_cause():
    assert told(weighed(CLUE, says="LossSpike", finished="trainer"))[0] == "Completed"
    assert told(weighed(CLUE, says="NCCLTimeoutError", finished="trainer", quotes=(30,)))[0] == (
        "Completed"
    )
    late = a_finding("ECCError", a_line(70), signal="eccerror")  # after the trainer's last word
    assert told(weighed(late, says="ECCError", finished="trainer", quotes=(20,)))[0] == "Completed"
    found = weighed(late, says="ECCError", finished="trainer", quotes=(70,))
    assert told(found) == ("ECCError", "low", "rules+model", "chooses")


def test_a_process_that_ended_for_unknown_reasons_may_be_given_one():
    killed = a_finding("Unknown", a_line(10), signal="killed")
    assert told(weighed(killed, says="ECCError", quotes=(30,)))[0] == "ECCError"


def test_a_jump_that_the_readings_do_not_show_is_left_aside():
    read = tuple(Point(0, n, "train", step=n, loss=2.0) for n in range(1, 9))
    found = weighed(says="LossSpike", points=read)
    assert told(found)[::3] == ("Unknown", "none")
    assert "what was measured does not show" in found.verdict.remarks[-1]
    assert (
        told(weighed(says="LossSpike"))[0] == "LossSpike"
    )  # no loss was read: its form is unknown


def test_a_hang_is_named_where_no_cause_is_known_and_displaces_none():
    assert told(weighed(says="Stalled"))[0] == "Stalled"
    assert told(weighed(CLUE, says="Stalled"))[0] == "NCCLTimeoutError"
