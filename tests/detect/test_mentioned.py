"""Exceptions that lines name in passing: which of them count, and for how much."""

import pytest

from app.detect.mentioned import find_mentioned
from app.detect.traceback import find_raised
from tests.detect.written_logs import PLAIN, read


def found(line: str) -> list[tuple[str, str, str]]:
    """Say of each exception its type, its message and how much its line tells of an end."""
    told = find_mentioned(read(line), (), lambda line: False)
    return [(one.type, one.message, one.kind) for one in told]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ERROR pump: run failed: KeyError: 'rate'", ("KeyError", "rate", "told")),
        (
            "CRITICAL | pump.py:7 | uncaught, shutting down: KeyError('rate')",
            ("KeyError", "rate", "told"),
        ),
        (
            '{"level": "critical", "event": "job_failed", "err": "TypeError(\\"no \'mask\'\\")"}',
            ("TypeError", "no 'mask", "told"),
        ),
        (
            '{"level": "error", "event": "gave up", "error_type": "IndexError", "error": "no row"}',
            ("IndexError", "no row", "told"),
        ),
        (
            'level=error msg="worker died" err="pump.FlowError: no water"',
            ("FlowError", "no water", "told"),
        ),
        ("[FATAL] crashed with ZeroDivisionError (by 0)", ("ZeroDivisionError", "by 0", "told")),
        ("pump 2 failed: <class 'KeyError'> 'rate'", ("KeyError", "rate", "mentioned")),
        ("cannot go on, exiting: no pump (KeyError)", ("KeyError", "no pump", "told")),
        ("[launch] pump 0 returned 1: flow.FlowError", ("FlowError", "", "mentioned")),
        ("ValueError('two pumps')", ("ValueError", "two pumps", "mentioned")),
        ("ERROR pump.py:9 ValueError: two pumps", ("ValueError", "two pumps", "mentioned")),
        ("task died of RayTaskError(KeyError): 'rate'", ("KeyError", "rate", "told")),
    ],
)
def test_a_line_that_tells_of_an_end_names_its_exception(line, expected) -> None:
    assert found(line) == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "WARNING batch 4 failed: KeyError: 'rate'",
        "INFO run failed: KeyError: 'rate', retrying",
        "run failed: KeyError: 'rate', attempt 1/3",
        "if it fails with KeyError: 'rate', add a rate",
        "run ended, no ValueError was raised",
        "    except ValueError as failed:",
        "ERROR cannot import ValueErrors",
        "the step took 3 s, see ValueError: docs",
        "run failed: ChildFailedError: pump.py",
        "LustreErrors: 4, run failed",
    ],
)
def test_what_is_doubted_denied_tried_again_or_code_names_none(line) -> None:
    assert found(line) == []


def test_lines_of_a_traceback_and_harmless_ones_are_left_alone() -> None:
    lines = read(PLAIN)
    raised = find_raised(lines)
    assert not list(find_mentioned(lines, raised, lambda line: False))
    lines = read("ERROR run failed: KeyError: 'rate'")
    assert not list(find_mentioned(lines, (), lambda line: True))
