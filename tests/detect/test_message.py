"""Where the message of an exception ends."""

import pytest

from app.detect.traceback import find_raised
from tests.detect.written_logs import NATIVE, read, the_one


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (
            'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s): "a".\nstep',
            'Error(s) in loading state_dict for Net:\n\tMissing key(s): "a".\nstep',
        ),
        (
            "pydantic_core.ValidationError: 1 validation error for Plan\nrate\n  Input should be "
            "a number\nsrun: error: n1: task 0: Exited with exit code 1",
            "1 validation error for Plan\nrate\n  Input should be a number",
        ),
        ("RuntimeError: one\ntwo\n\nthree", "one\ntwo"),
        ("RuntimeError: one\n\n    two", "one\n    two"),
        ("RuntimeError: one\n[rank1]: two", "one"),
        ("RuntimeError: one\n[00:00:09] two", "one"),
        ("KeyError: 'one'\ntwo", "'one'"),
        ("RuntimeError: one\nKeyError: 'x'", "one"),
        ("RuntimeError: one\nwandb: two", "one"),
        ("RuntimeError: one\nEval Epoch: 4 [2/9]", "one"),
        ("RuntimeError: one\n+ exit 1", "one"),
        ("RuntimeError: one\n./run.sh: line 4: 211 Aborted (core dumped) python a.py", "one"),
        ("RuntimeError: one\n[n7:12 :0:12] Caught signal 6 (Aborted)", "one"),
        ("RuntimeError: one\n[W304 11:12:13.123 Store.cpp:5] two", "one"),
        ("RuntimeError: one\n[W Store.cpp:5] Warning: two", "one"),
        ("RuntimeError: one\n  4%|x   | 138/3402 [33:11<13:05, 14.44s/it]", "one"),
    ],
)
def test_a_message_goes_on_until_somebody_else_speaks(tail, message):
    log = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n' + tail
    assert find_raised(read(log))[0].message == message


def test_notes_and_native_stacks_belong_to_the_block_and_stacks_not_to_the_message():
    raised = the_one(NATIVE)
    assert raised.line.text.startswith("  what():")
    assert raised.first.text.startswith("terminate called")
    assert raised.message.count("\n") == 2
    assert raised.last == 6
