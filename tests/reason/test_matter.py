"""What a model is told of a log that rules leave in doubt."""

from pathlib import Path

from app.pipeline import examine
from app.reason.matter import findings
from tests.own_rules import COMPILED

_LATE = (
    "[rank{rank}]:[E404 10:11:{seconds}.0 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
    "Timeout(ms)=600000) ran for 600047 milliseconds before timing out.\n"
)


def told(folder: Path, text: str) -> str:
    log = folder / "job.log"
    log.write_text(text)
    case = examine([log], COMPILED)
    return findings(case.diagnosis, case.detected, case.sighted.log)


def test_who_is_silent_while_others_wait_stands_out(tmp_path: Path) -> None:
    late = "".join(_LATE.format(rank=rank, seconds=10 + rank) for rank in range(1, 8))
    assert "stands out: rank 0 " in told(tmp_path, "[rank0]: step 1 loss 2.0\n" + late)


def test_how_far_training_came_and_how_long_the_log_goes_on(tmp_path: Path) -> None:
    steps = "".join(
        f"2026-03-01 10:00:{n:02} step {n}/500 loss {3 - n / 100:.3f}\n" for n in range(1, 30)
    )
    found = told(tmp_path, steps + "2026-03-01 10:21:29 the crew has left the hall\n")
    assert "last step of training, by its metrics: 29 of 500\n" in found
    assert "seconds from that step to the last line that tells a time: 1260" in found


def test_of_a_log_without_steps_none_is_told(tmp_path: Path) -> None:
    found = told(tmp_path, "the crew has left the hall\n")
    assert "last step of training, by its metrics: none is seen" in found
