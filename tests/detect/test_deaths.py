"""A rank that dies without a word while others complain is news; one that had its say is not."""

from app.detect.deaths import with_silent_deaths
from app.model import Marked, Sighting, Strength
from app.rulebook.compiled import Compiled
from tests.small_rules import a_cause, a_line, a_rulebook, a_signal

COMPILED = Compiled(
    a_rulebook(
        [a_cause("NativeCrash"), a_cause("Peer"), a_cause("Key")],
        [
            a_signal("abort", "NativeCrash", strength="echo"),
            a_signal("peer", "Peer", strength="echo"),
            a_signal("wrong_key", "Key"),
        ],
    )
)
TABLE = (Marked("exited", "exit", a_line(31), None, {"rank": "3", "pid": "77"}),)


def said(signal: str, number: int, strength: Strength, rank: int | None = None) -> Sighting:
    return Sighting(signal, a_line(number, rank=rank), strength)


ABORT = Sighting("abort", a_line(30), "echo", {"pid": "77"})


def heard(*others: Sighting) -> Sighting:
    (crash,) = (s for s in with_silent_deaths([*others, ABORT], TABLE, COMPILED) if s.facts)
    return crash


def test_a_rank_that_said_nothing_is_news_and_is_named() -> None:
    crash = heard(said("wrong_key", 5, "proof", rank=0))
    assert (crash.strength, crash.facts["rank"]) == ("clue", "3")


def test_a_rank_that_had_its_say_or_was_told_of_another_is_no_news() -> None:
    assert heard(said("wrong_key", 5, "proof", rank=3)).strength == "echo"
    told = heard(said("wrong_key", 5, "proof", rank=0), said("peer", 6, "echo", rank=3))
    assert told.strength == "echo"


def test_where_no_rank_is_known_to_speak_a_crash_stays_an_echo() -> None:
    assert heard(said("wrong_key", 5, "proof")).strength == "echo"
