from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model import Prefix
from app.read.prefix import PrefixReader


def read(*lines: str, year: int | None = 2026) -> list[Prefix]:
    reader = PrefixReader(year)
    return [reader.read(line) for line in lines]


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("raw", "rank", "message"),
    [
        ("[rank3]: KeyError: 'ids'", 3, "KeyError: 'ids'"),
        ("[rank3]:[rank3]: KeyError: 'ids'", 3, "KeyError: 'ids'"),
        ("[rank3]: [rank3]: KeyError: 'ids'", 3, "KeyError: 'ids'"),
        ("[rank0]:[rank11]: KeyError: 'ids'", 11, "KeyError: 'ids'"),
        ("[rank: 3] seed set to 7", 3, "seed set to 7"),
        ("[rank3] step 10", 3, "step 10"),
        ("[Rank 3] memory after set-up: 2 GB", 3, "[Rank 3] memory after set-up: 2 GB"),
        ("[1,3]<stdout>:step 10", 3, "step 10"),
        ("[1,12]<stderr>: step 10", 12, "step 10"),
        ("[5]<stderr>:step 10", 5, "step 10"),
        ("[1,mpirank:17,algo-3]<stderr>:step 10", 17, "step 10"),
        ("[0]12:00:45 step 10", 0, "step 10"),
        ("[rank7]:", 7, ""),
    ],
)
def test_a_rank_label_gives_the_rank(raw: str, rank: int, message: str) -> None:
    (prefix,) = read(raw)

    assert (prefix.rank, prefix.stream, raw[prefix.end :]) == (rank, f"rank {rank}", message)


@pytest.mark.parametrize(
    "label", ["[rank3]: ", "[rank3]:", "[default3]:", "[1,3]<stderr>:", "(A pid=1) "]
)
def test_the_indentation_of_a_traceback_survives_its_label(label: str) -> None:
    raw = f'{label}  File "/srv/fit.py", line 7, in step'
    (prefix,) = read(raw)

    assert raw[prefix.end :] == '  File "/srv/fit.py", line 7, in step'


def test_a_host_with_a_number_before_the_label_of_a_rank_is_read() -> None:
    labelled, source = read("[gx14:13]: [rank13]: KeyError: 'ids'", "[fit:13]: step 10")

    assert (labelled.host, labelled.rank) == ("gx14", 13)
    assert (source.host, source.end) == (None, 0)


def test_the_clock_behind_the_short_level_of_a_program_in_go_is_read() -> None:
    found = read("ERRO[2026-04-18T20:26:37Z] socket disconnected", "WARN[0042] pulling the image")

    assert [prefix.time for prefix in found] == [1776543997, None]
    assert [prefix.end for prefix in found] == [0, 0]


def test_a_rank_within_its_node_names_the_stream_and_no_rank() -> None:
    (prefix,) = read("[default3]:step 10")

    assert prefix == Prefix(end=11, stream="default 3")


def test_a_rank_behind_a_rank_within_its_node_counts() -> None:
    (prefix,) = read("[default3]:[rank19]: step 10")

    assert (prefix.rank, prefix.stream) == (19, "rank 19")


def test_the_replica_of_a_role_is_a_label_once_a_line_goes_on_with_another() -> None:
    before, labelled, ranked, agent = read(
        "sft.fit/1 starts",
        "sft.fit/1 [default3]:step 10",
        "sft.fit/1 [default3]:[rank19]: step 10",
        "sft.fit/1 a worker left",
    )

    assert before == Prefix()
    assert labelled == Prefix(end=21, stream="sft.fit/1 default 3")
    assert (ranked.rank, ranked.stream) == (19, "rank 19")
    assert agent == Prefix(end=10, stream="sft.fit/1")


@pytest.mark.parametrize(
    ("raw", "host", "stream"),
    [
        ("(Learner pid=41) step 10", None, "Learner pid=41"),
        ("(Learner pid=41, ip=10.1.0.4) step 10", "10.1.0.4", "Learner pid=41, ip=10.1.0.4"),
        ("(fit.<locals>.run(k=2) pid=41) step 10", None, "fit.<locals>.run(k=2) pid=41"),
        ("(pid=41) step 10", None, "pid=41"),
        ("(raylet, ip=10.1.0.4) step 10", "10.1.0.4", "raylet, ip=10.1.0.4"),
        ("(autoscaler +1m2s) step 10", None, "autoscaler +1m2s"),
        ("node-3: step 10", "node-3", "node-3"),
        ("10.1.0.4: step 10", "10.1.0.4", "10.1.0.4"),
        ("pod/fit-0 step 10", "fit-0", "fit-0"),
        ("[pod/fit-0/pytorch] step 10", "fit-0", "fit-0"),
        ("[trainer-0] step 10", "trainer-0", "trainer-0"),
        ("fit-worker-3 pytorch step 10", "fit-worker-3", "fit-worker-3"),
        ("trainer-1  | step 10", "trainer-1", "trainer-1"),
        ("(node-1) step 10", "node-1", "node-1"),
    ],
)
def test_a_label_names_who_printed_the_line(raw: str, host: str | None, stream: str) -> None:
    (prefix,) = read(raw)

    assert raw[prefix.end :] == "step 10"
    assert (prefix.host, prefix.stream, prefix.rank) == (host, stream, None)


def test_an_actor_keeps_its_stream_where_it_names_its_rank() -> None:
    (prefix,) = read("(Learner pid=41, ip=10.1.0.4) [rank12]: step 10")

    assert (prefix.rank, prefix.stream) == (12, "Learner pid=41, ip=10.1.0.4")


def test_once_a_host_has_spoken_its_other_lines_are_known() -> None:
    lines = [
        "gpu-a1-07: [rank9]: Traceback (most recent call last):",
        "gpu-a1-07:   what():  stopped",
        "gpu-a1-08: no word of it yet",
    ]
    known = read(*lines)

    assert [prefix.host for prefix in known] == ["gpu-a1-07", "gpu-a1-07", None]
    assert lines[1][known[1].end :] == "  what():  stopped"


def test_a_name_in_brackets_is_a_host_where_several_are_numbered_alike() -> None:
    lines = ["[n31:2087] up", "[n32:2090] up", "[n31:2087] step 1", "[nid002] up", "[nid002] on"]
    assert [prefix.host for prefix in read(*lines)] == [None, None, "n31", None, "nid002"]
    once = ["[llama2] up", "[llama2] step 1", "[api.py:2087] up", "[api.py:2087] up"]
    assert [prefix.host for prefix in read(*once)] == [None] * 4


def test_a_host_before_a_label_or_a_spoken_rank_is_known_by_what_follows() -> None:
    lines = ["tw-04 [rank0]:step 1", "h41n09 rank 33: Traceback (most recent call last):"]
    first, second = read(lines[0], "h41n09: [rank2]: up", lines[1])[::2]
    assert (first.host, first.rank) == ("tw-04", 0)
    assert (second.host, second.rank) == ("h41n09", 33)
    assert read("rank 3: loss 2.1")[0].rank is None


def test_the_head_of_a_nccl_line_tells_the_host_and_stays() -> None:
    bare, labelled = read(
        "cn-7:811:903 [3] NCCL WARN NET/IB : timeout", "[15]cn-7:811:903 [3] NCCL WARN timeout"
    )

    assert bare == Prefix(host="cn-7", stream="cn-7:811")
    assert labelled == Prefix(end=4, rank=15, host="cn-7", stream="rank 15")


@pytest.mark.parametrize(
    ("raw", "host", "message"),
    [
        ("Mar  3 04:12:09 cn-7 kernel: NVRM: Xid", "cn-7", "kernel: NVRM: Xid"),
        ("Mar  3 04:12:09 cn7 systemd: stopped", "cn7", "systemd: stopped"),
        ("2026-03-03T04:12:09+0000 cn-7 slurmd[812]: lost", "cn-7", "slurmd[812]: lost"),
        ("Mar  3 04:12:09 Loading shard: 3", None, "Loading shard: 3"),
        ("[Tue Mar  3 04:12:09 2026] NVRM: Xid", None, "NVRM: Xid"),
    ],
)
def test_a_system_log_names_time_and_host(raw: str, host: str | None, message: str) -> None:
    (prefix,) = read(raw)

    assert prefix.time == seconds("2026-03-03T04:12:09")
    assert (prefix.host, raw[prefix.end :]) == (host, message)


def test_an_uptime_is_cut_away_and_tells_no_time() -> None:
    (prefix,) = read("[12345.678901] cn-7 kernel: NVRM: Xid")

    assert prefix == Prefix(end=20, host="cn-7", stream="cn-7")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("[2026-03-04 04:22:11,000] [ERROR] [run.py:3:fn] lost", "[ERROR] [run.py:3:fn] lost"),
        ("2026-03-04 04:22:11.000 | INFO     | a:b:1 - up", "INFO     | a:b:1 - up"),
        ("[fit] 2026-03-04 04:22:11,000 - root - INFO - up", "root - INFO - up"),
        ("DLL 2026-03-04 04:22:11.000000 - step 10", "step 10"),
        (" [2026-03-04 04:22:11] iteration 10/ 90", "iteration 10/ 90"),
        ("2026-03-04T04:22:11.000000000Z [03-04 04:22:11] up", "up"),
    ],
)
def test_a_pure_stamp_is_cut_away(raw: str, message: str) -> None:
    (prefix,) = read(raw)

    assert prefix.time == seconds("2026-03-04T04:22:11")
    assert raw[prefix.end :] == message


@pytest.mark.parametrize(
    "raw",
    [
        "[E304 04:22:11.000000000 ProcessGroupNCCL.cpp:616] Watchdog caught",
        "[E0304 04:22:11.0 ProcessGroupNCCL.cpp:616] Watchdog caught",
        "W0304 04:22:11.000000 1933 site-packages/torch/run.py:792] up",
        "INFO 03-04 04:22:11 [loggers.py:116] up",
        "[INFO|trainer.py:17] 2026-03-04 04:22:11,000 >> up",
        "[INFO|2026-03-04 04:22:11] fit.data:14 >> up",
        "[NeMo W 2026-03-04 04:22:11 logging:34] up",
        "[ERROR] 2026-03-04-04:22:11 (PID:3, Device:1, RankID:-1) ERR00100",
        "[2026-03-04 04:22:11,000 E 97 101] gcs_client.h:12: lost",
        "<error> [2026-03-04 04:22:11] trial exited",
        "submitit INFO (2026-03-04 04:22:11,000) - up",
        "EI0002: 2026-03-04-04:22:11.000.410 The wait times out",
        "[after the model is built] datetime: 2026-03-04 04:22:11 ",
        "STARTING TIMING RUN AT 2026-03-04 04:22:11 AM",
        "slurmstepd: error: *** JOB 4 ON c7 CANCELLED AT 2026-03-04T04:22:11 DUE TO TIME LIMIT ***",
        "slurmstepd-cn-7: error: *** STEP 47.0 ON cn-7 CANCELLED AT 2026-03-04T04:22:11 ***",
        '{"ts": "2026-03-04T04:22:11Z", "msg": "up"}',
        ':::MLLOG {"namespace": "", "time_ms": 1772598131000, "key": "x"}',
    ],
)
def test_a_stamp_amid_level_source_or_sentence_counts_and_stays(raw: str) -> None:
    (prefix,) = read(raw)

    assert prefix == Prefix(time=seconds("2026-03-04T04:22:11"))


def test_labels_and_stamps_combine_in_any_order() -> None:
    stamp = "2026-03-04T04:22:11"
    lines = [
        f"{stamp} [rank3] INFO up",
        f"[rank3]:[fit] {stamp} - INFO up",
        f"node-3: [rank3]: [{stamp}] INFO up",
        f"(Learner pid=41) [rank3]: {stamp} INFO up",
        f"{stamp}.5Z [rank3]:[{stamp}] INFO up",
    ]
    for line, prefix in zip(lines, read(*lines), strict=True):
        assert prefix.rank == 3
        assert prefix.time is not None
        assert int(prefix.time) == seconds(stamp)
        assert line[prefix.end :] == "INFO up"


def test_the_clock_of_the_collector_goes_before_that_of_the_program() -> None:
    (prefix,) = read("2026-03-04T04:22:11Z [rank3]:[E304 12:22:10.5 ProcessGroupNCCL.cpp:616] lost")

    assert (prefix.time, prefix.rank) == (seconds("2026-03-04T04:22:11"), 3)


def test_a_rank_said_behind_level_and_source_counts() -> None:
    told, watchdog, ascend = read(
        "[2026-03-04 04:22:11,000] [INFO] [fit.train:58] [PID:512] [RANK:3] up",
        "[E ProcessGroupNCCL.cpp:916] [Rank 5] Watchdog caught",
        "[ERROR] 2026-03-04-04:22:11 (PID:3, Device:1, RankID:9) ERR00100",
    )

    assert (told.rank, watchdog.rank, ascend.rank) == (3, 5, 9)
    assert watchdog.end == 0


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "   ",
        "loss 2.31 at 2026-03-04 04:22:11",
        "RuntimeError: CUDA error: unspecified launch failure",
        '  File "/srv/fit.py", line 7, in step',
        "Epoch 3:  10%|#   | 1/10 [00:01<00:09, 1.1it/s]",
        "100%|####| 10/10 [00:01<00:00, 9.9it/s]",
        "0: {",
        "1: 0.5",
        "  0: person",
        "138: [allreduce.grad.layer11.weight, allreduce.grad.layer10.weight",
        "[1] 4711",
        "[0.73, 0.16]",
        "[Errno 2] No such file or directory",
        "[conda] numpy 2.1",
        "[pip3] torch==2.6",
        "(1, 3349.0) {'final_loss': 0.0}",
        "(most recent call first):",
        "(layer-1) Linear",
        "(gpu-0) 23012MiB",
        "[train.py:81]: step 10",
        "[step-3:10]: loss 2.1",
        "pod/fit-0 created",
        "layer-1 | Linear | 1.2 K",
        "worker-3 finished its shard",
        "gpu-0: 23012MiB / 24564MiB",
        "srun: error: cn-7: task 3: Killed",
        "{'loss': 1.49, 'epoch': 0.62}",
        "frame #4: <unknown function> + 0xc8a4d",
    ],
)
def test_ordinary_text_has_no_prefix(raw: str) -> None:
    assert read(raw) == [Prefix()]


def test_the_labels_of_srun_are_ranks_once_the_file_shows_that_they_are_labels() -> None:
    lines = [f"{n:2}: joined the process group" for n in [9, 3, 10, 0, 12, 11, 3]]
    prefixes = read(*lines, " 7: {", "11: Traceback (most recent call last):")

    assert prefixes[0] == Prefix()
    assert prefixes[6] == Prefix(end=4, rank=3, stream="rank 3")
    assert [prefix.rank for prefix in prefixes[-2:]] == [7, 11]


def test_tasks_that_start_several_processes_are_no_ranks() -> None:
    several = read(
        "1: [rank9]: Traceback (most recent call last):", "1: [rank9]: stopped", "1: bye"
    )
    within = read("1: [default3]:Traceback (most recent call last):", "1: [default3]:stopped")

    assert several[2] == Prefix(end=3, stream="task 1")
    assert [prefix.stream for prefix in within] == ["task 1 default 3", "task 1 default 3"]
    assert within[1].rank is None


def test_each_file_has_a_reader_of_its_own_that_remembers_its_date() -> None:
    dated = read("2026-03-03 23:59:58 up", "[00:00:02.500] up", year=None)
    bare = read("[00:00:02.500] up", year=None)

    assert dated[1].time == seconds("2026-03-04T00:00:02.500")
    assert bare == [Prefix(end=15)]


PIECES = [
    *'[](){}":| \té٣3',
    *["rank", "Rank ", "12", "default", "pid=", "ip=", "2026-01-02", "T", "03:04:05", ".678", "Z"],
    *["E304 ", "INFO", "Mar ", "node-1", "kernel: ", "ts", ":::MLLOG ", "pod/", "<stdout>"],
    *["slurmstepd: error: ", "*** JOB 1 ON a CANCELLED AT ", "  ", ": ", "] "],
]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), max_size=6))
def test_whatever_a_line_holds_the_message_begins_within_it(lines: list[str]) -> None:
    for line, prefix in zip(lines, read(*lines), strict=True):
        assert 0 <= prefix.end <= len(line)


def test_a_line_of_a_controllers_log_is_dated_and_kept_whole() -> None:
    (prefix,) = read(" 4b | 05/11/2026 | 08:12:44 | Power Unit #0x01 | Power off/down | Asserted")
    assert (prefix.end, prefix.time) == (0, seconds("2026-05-11T08:12:44"))
