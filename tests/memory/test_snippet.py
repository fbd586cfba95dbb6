import pytest

from app.incident import Snippet
from app.memory.snippet import complaints, masked, of_text, snippet, tells
from app.model import Evidence, ExplainedCause, Line, Primary, Verdict


def verdict(cause, *evidence, strength="proof", explained=()):
    primary = Primary(cause, "script", "signal", strength, "high", "fp", "what happened", None)
    return Verdict(primary, explained=explained, evidence=evidence)


def line(number, text, raw=None):
    return Line(0, number, raw or text, text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rank 3: loss 1.25 at step 800", "rank 17: loss 9.5e-3 at step 12"),
        ("open /data/a/b/x.bin failed", "open /mnt/other/x.bin failed"),
        ("peer 10.1.2.3:4321 is gone", "peer 10.9.0.77:29500 is gone"),
        ("at 0x7f3a91c0 in node-a", "at 0xdeadbeef in node-a"),
        ("2026-03-01 04:12:09,123 boom", "2025-11-30 23:59:59,001 boom"),
        ("Mar  3 04:12:09 boom", "Dec 31 23:00:01 boom"),
        ("pid=4711 died", "pid=99 died"),
        (
            "job 1c1f8a52-0d3e-4c55-9b1e-0c2c8c1a7f00",
            "job 7d2f8a52-1111-4c55-aaaa-0c2c8c1a7f99",
        ),
    ],
)
def test_what_differs_from_run_to_run_is_masked(one, other):
    assert masked(one) == masked(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid=1", "NVRM: Xid (PCI:0000:3b:00): 48, pid=1"),
        ("[Errno 28] here", "[Errno 2] here"),
        ("exit code 137", "exit code 1"),
        ("got signal 11", "got signal 15"),
        ("KeyError: 'labels'", "KeyError: 'input_ids'"),
    ],
)
def test_a_code_that_names_the_fault_stays(one, other):
    assert masked(one) != masked(other)


def test_hosts_that_are_known_are_masked_and_words_that_hold_their_name_are_not():
    assert masked("alpha: alphabet lost", ["alpha"]) == "host : alphabet lost"


def test_secrets_never_reach_a_snippet():
    text = masked("api_key=sk-proj-aaaabbbbccccddddeeeeffff for mira@example.org")
    assert "aaaabbbb" not in text
    assert "mira@" not in text


def test_the_lines_of_the_root_stand_first_and_a_few_consequences_after():
    found = snippet(
        verdict(
            "KeyError",
            Evidence("log", 7, "[rank3]: KeyError: 'x'", "a key is missing"),
            Evidence("log", 9, "watchdog timeout", "NCCLTimeoutError, explained by KeyError"),
            Evidence("log", 2, "torchrun started", "context"),
            explained=(ExplainedCause("NCCLTimeoutError", "KeyError", "always", 1, 9, "log"),),
        ),
        [line(7, "KeyError: 'x'", "[rank3]: KeyError: 'x'"), line(9, "watchdog timeout")],
    )
    assert found.lines == ("KeyError: 'x'", "watchdog timeout")


def test_without_a_root_it_is_what_the_log_complains_of_but_for_known_consequences():
    lines = [
        line(1, "loading shards"),
        line(2, "FrobnicatorError: the flux is inverted"),
        line(3, "ChildFailedError: train.py FAILED"),
        line(4, "srun: error: task 3 exited"),
    ]
    found = snippet(verdict("Unknown", strength=None), lines, but={(0, 4)})
    assert found.lines == (
        "FrobnicatorError: the flux is inverted",
        "ChildFailedError: train.py FAILED",
    )


def test_of_a_million_like_complaints_one_is_taken():
    lines = [line(n, f"write to shard {n} failed") for n in range(20_000)]
    assert complaints(lines) == ["write to shard 19999 failed"]


def test_a_launchers_report_alone_tells_nothing():
    assert tells(Snippet(("FrobnicatorError: inverted",)))
    assert not tells(Snippet(("torch.distributed.elastic.ChildFailedError:", "train.py FAILED")))
    assert not tells(Snippet())


def test_what_a_person_pastes_is_masked_alike():
    assert of_text("12:01:02 KeyError: 'x'\n\n").lines == ("# KeyError: 'x'",)
