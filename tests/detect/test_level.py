"""The level nearest to the message counts, in whatever way a logger writes it."""

import pytest

from app.detect.level import level_at


@pytest.mark.parametrize(
    ("head", "level"),
    [
        ("WARNING:root:", "warning"),
        ("2026-01-02 03:04:05,678 - lm.io - WARNING - ", "warning"),
        ("2026-01-02 03:04:05.678 | INFO     | lm.io:save:12 - ", "info"),
        ("[2026-01-02 03:04:05,678] [ERROR] [api.py:870:run] ", "error"),
        ("time=2026-01-02T03:04:05Z level=warning msg=", "warning"),
        ('{"level": "info", "msg": "', "info"),
        ("W1019 12:11:02.123456 140 socket.cpp:881] ", "warning"),
        ("[rank0]:[I1019 12:11:02 ProcessGroupNCCL.cpp:629] ", "info"),
        ("[W socket.cpp:697] [c10d] ", "warning"),
        ("[rank3]:[E ProcessGroupNCCL.cpp:629] ", "error"),
        ("/opt/lm/run.py:12: UserWarning: ", "warning"),
        ("job.sh: warning: ", "warning"),
        ("gpu-a:811:903 [3] misc/socket.cc:484 NCCL WARN ", "error"),
        ("gpu-a:811:903 [3] NCCL INFO ", "info"),
        ("INFO collector: 2026-01-02 03:04:05 ERROR ", "error"),
        ("2026-01-02 03:04:05 INFO note: CUDA error: ", "info"),
        ("[2026-01-02 03:04:05] error: ", "error"),
        ("gpu-a kernel: ", None),
        ("/var/log/INFO/run.log: ", None),
        ("the error rate of WARNINGS: ", None),
        ("", None),
    ],
)
def test_a_level_is_read_from_the_head_of_a_line(head: str, level: str | None) -> None:
    assert level_at(head) == level


def test_a_level_far_from_the_start_is_a_word_of_the_message() -> None:
    assert level_at("x " * 200 + "WARNING ") is None
