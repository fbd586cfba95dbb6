"""A line without a time is no later than the last words of its printer."""

from dataclasses import replace

from app.detect.clocks import bounded
from app.model import Line
from tests.small_rules import a_line


def of(host: str, number: int, time: float | None = None) -> Line:
    return replace(a_line(number, time=time), host=host)


def test_a_line_is_no_later_than_the_last_words_of_its_host() -> None:
    lines = bounded([of("n1", 1), of("n2", 2, 900.0), of("n1", 3, 50.0), of("n2", 4)])
    assert [line.until for line in lines] == [50.0, None, None, None]


def test_older_words_from_a_buffer_bound_nothing() -> None:
    first, *_ = bounded([of("n1", 1), of("n1", 2, 10.0), of("n1", 3, 90.0)])
    assert first.until == 90.0


def test_what_names_no_printer_is_not_bounded() -> None:
    first, _ = bounded([a_line(1), a_line(2, time=10.0)])
    assert first.until is None
