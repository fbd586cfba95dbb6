"""What a model is shown of a confirmed failure, and of healthy runs."""

from app.learn.evidence import alike, evidence, near
from tests.learn.conftest import JAMMED


def case_of(hall, name, text):
    case = hall.log(name, "PumpFault", text).case(hall.rules.compiled)
    assert case is not None
    return case


def test_quotes_stand_first_and_the_note_of_the_person_last(hall):
    case = case_of(hall, "one", f"gauge 1 reads 4\nerror: no water\n{JAMMED}\n")
    told = evidence(case, [JAMMED], "it was rusty")
    assert told[:2] == (JAMMED, "error: no water")
    assert told[-1] == "(a person says of it: it was rusty)"
    assert len(told) == len(set(told))


def test_failures_are_alike_when_they_complain_of_the_same(hall):
    one = case_of(hall, "one", "error: valve 7 at 10.0.0.1 is stuck\n")
    same = case_of(hall, "same", "error: valve 31 at 10.9.8.7 is stuck\n")
    other = case_of(hall, "other", "error: no water\n")
    assert alike(one, same)
    assert not alike(one, other)


def test_the_likest_lines_of_healthy_runs_are_found_one_of_each_kind(hall):
    text = "gauge 1 reads 4\nvalve 3 of hall-a jammed, and was freed\n"
    text += "valve 8 of hall-a jammed, and was freed\n"
    found = near([JAMMED], [hall.log("healthy", "Completed", text)])
    assert found == ("valve 3 of hall-a jammed, and was freed",)
