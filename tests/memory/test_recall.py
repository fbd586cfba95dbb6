"""Memory within a diagnosis: what is asked, and what becomes of the answer."""

from pathlib import Path

from app.answer import answer
from app.incident import Precedent, Recalled
from app.pipeline import diagnose

ROOT = Path(__file__).parent.parent.parent
UNKNOWN = """\
iteration 10/ 500 | elapsed time per iteration (ms): 811.0 | lm loss: 7.31E+00 |
iteration 20/ 500 | elapsed time per iteration (ms): 809.2 | lm loss: 7.02E+00 |
flux controller 7: the frobnicator of lane 12 is inverted, panic
"""
KNOWN = UNKNOWN + "KeyError: 'packed_ids'\n"


class Answering:
    """A memory with one answer; it keeps what it was asked."""

    def __init__(self, *precedents, agreed=None, note=None):
        self.recalled = Recalled(precedents, agreed, note)
        self.asked = []

    def nearest(self, snippet):
        self.asked.append(snippet.lines)
        return self.recalled


def told(tmp_path, text, compiled, memory):
    path = tmp_path / "train.log"
    path.write_text(text)
    return answer(diagnose([path], compiled, memory=memory))


def test_what_the_log_complains_of_is_asked_for_and_people_who_agree_name_the_cause(
    tmp_path, compiled
):
    one, two = (Precedent(f"in_{n}", "RuntimeError", 0.9, True) for n in (1, 2))
    memory = Answering(one, two, agreed="RuntimeError")
    found = told(tmp_path, UNKNOWN, compiled, memory)
    assert memory.asked == [("flux controller # the frobnicator of lane # is inverted, panic",)]
    assert (found["method"], found["primary"]["cause"]) == ("memory", "RuntimeError")
    assert found["primary"]["confidence"] == "low"
    assert found["recovery"]["restart"] is False
    assert [item["id"] for item in found["precedents"]] == ["in_1", "in_2"]
    assert any("in_1, in_2" in remark for remark in found["remarks"])


def test_the_rules_are_not_overruled(tmp_path, compiled):
    text = 'Traceback (most recent call last):\n  File "/a/run.py", line 6, in <module>\n' + KNOWN
    memory = Answering(Precedent("in_1", "ECCError", 1.0, True), agreed="ECCError")
    found = told(tmp_path, text, compiled, memory)
    assert (found["method"], found["primary"]["cause"]) == ("rules", "KeyError")
    assert found["precedents"][0]["cause"] == "ECCError"


def test_a_memory_that_cannot_be_asked_costs_nothing_but_a_remark(tmp_path, compiled):
    found = told(tmp_path, UNKNOWN, compiled, Answering(note="past incidents cannot be asked"))
    assert (found["method"], found["primary"]["cause"]) == ("rules", "Unknown")
    assert "past incidents cannot be asked" in found["remarks"]
    assert told(tmp_path, UNKNOWN, compiled, None)["precedents"] == []
