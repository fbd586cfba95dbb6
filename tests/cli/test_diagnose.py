import gzip
import json
from pathlib import Path

from tests.cli.running import SHOWCASE, STORIES, Command

# The contract with whoever parses the answer.
_KEYS = {
    "": "id status method job primary explained other_roots evidence suspects recovery precedents "
    "attempts opinion remarks log versions",
    "primary": "cause domain signal strength confidence fingerprint summary first_seen",
    "first_seen": "file line time rank host",
    "explained": "cause by edge count first_line file",
    "evidence": "file line text why",
    "suspects": "host rank gpu nic why",
    "recovery": "action restart targets steps commands",
    "log": "bytes lines kept_lines templates ratio seconds files",
    "versions": "firstfault rules prompts model",
}


def test_the_answer_for_a_person_names_the_cause_the_place_and_what_to_do(
    firstfault: Command,
) -> None:
    told = firstfault("diagnose", SHOWCASE)
    first, *_ = told.out.split("\n")
    assert (told.status, told.err) == (0, "")
    assert first == "CUDAError · infrastructure · confidence high"
    assert "  host gpu-a08, rank 13" in told.out
    assert "What to do: restart" in told.out
    assert "RuntimeError: CUDA error: an illegal memory access was encountered\n" in told.out
    assert told.out.index("What to do") < told.out.index("Not the cause")
    assert "\033" not in told.out


def test_the_answer_as_json_has_all_its_keys_and_nothing_else_is_printed(
    firstfault: Command,
) -> None:
    told = firstfault("diagnose", "--json", "--job-id", "771204", SHOWCASE)
    answer = json.loads(told.out)
    assert (told.status, told.err) == (0, "")
    parts = {
        "": answer,
        "first_seen": answer["primary"]["first_seen"],
        **{name: answer[name] for name in ("primary", "recovery", "log", "versions")},
        **{name: answer[name][0] for name in ("explained", "evidence", "suspects")},
    }
    assert {name: set(part) for name, part in parts.items()} == {
        name: set(keys.split()) for name, keys in _KEYS.items()
    }
    assert answer["status"] == "complete"
    assert answer["method"] == "rules"
    assert answer["job"] == {"job_id": "771204"}
    assert answer["versions"]["rules"].startswith("sha256:")


def test_line_numbers_of_the_answer_are_those_of_the_log(firstfault: Command) -> None:
    answer = json.loads(firstfault("diagnose", "--json", SHOWCASE).out)
    lines = SHOWCASE.read_text().split("\n")
    assert answer["evidence"]
    for item in answer["evidence"]:
        assert item["file"] == SHOWCASE.name
        assert item["text"] == lines[item["line"] - 1]


def test_a_log_may_come_from_standard_input_and_be_compressed(firstfault: Command) -> None:
    told = firstfault("diagnose", "-", given=gzip.compress(SHOWCASE.read_bytes()))
    assert told.status == 0
    assert told.out.startswith("CUDAError")


def test_a_folder_is_one_job(firstfault: Command) -> None:
    told = firstfault("diagnose", STORIES / "KeyError" / "the_other_node_tells_why")
    assert told.out.startswith("KeyError")
    assert "    node-1.log:" in told.out
    assert "2 files" in told.out


def test_files_that_are_named_one_by_one_are_one_job(firstfault: Command) -> None:
    folder = STORIES / "KeyError" / "the_other_node_tells_why"
    told = firstfault("diagnose", "--json", folder / "node-0.log", folder / "node-1.log")
    assert json.loads(told.out)["primary"]["first_seen"]["file"] == "node-1.log"


def test_an_unknown_reason_is_a_verdict_and_no_failure(firstfault: Command) -> None:
    told = firstfault("diagnose", STORIES / "Unknown" / "a_bare_kill.log")
    assert told.status == 0
    assert told.out.startswith("Unknown")


def test_the_word_of_the_scheduler_is_evidence(firstfault: Command, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 3.0\nstep 2 loss 2.9\n")
    answer = json.loads(firstfault("diagnose", "--json", "--state", "TIMEOUT", log).out)
    assert answer["primary"]["cause"] == "TimeLimitExceeded"
    assert answer["job"]["state"] == "TIMEOUT"


def test_commands_are_shown_for_the_scheduler_that_is_named(firstfault: Command) -> None:
    log = STORIES / "NodeFailure" / "gpu_off_the_bus_shows_only_in_dmesg.log"
    told = firstfault("diagnose", "--json", "--scheduler", "kubernetes", log)
    commands = json.loads(told.out)["recovery"]["commands"]
    assert commands == ["kubectl cordon hgx-11"]


def test_what_a_log_holds_cannot_steer_the_terminal(firstfault: Command, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(
        b"Traceback (most recent call last):\n"
        b'  File "/srv/run/train.py", line 3, in <module>\n'
        b"KeyError: 'a\x1b]0;owned\x07\x1b[2J\xff b'\n"
    )
    told = firstfault("diagnose", log)
    assert told.status == 0
    assert told.out.startswith("KeyError")
    assert not {"\x1b", "\x07"} & set(told.out)


def test_a_terminal_that_knows_no_unicode_is_spared_it(firstfault: Command) -> None:
    plain = firstfault("diagnose", SHOWCASE, PYTHONIOENCODING="ascii")
    parsed = firstfault("diagnose", "--json", SHOWCASE, PYTHONIOENCODING="ascii")
    assert plain.status == parsed.status == 0
    assert plain.out.startswith("CUDAError")
    assert json.loads(parsed.out)["primary"]["cause"] == "CUDAError"


def test_long_lines_are_whole_in_a_pipe_and_cut_where_the_width_is_known(
    firstfault: Command,
) -> None:
    cut = firstfault("diagnose", SHOWCASE, COLUMNS="100").out.split("\n")
    whole = firstfault("diagnose", SHOWCASE).out.split("\n")
    assert max(map(len, cut)) == 100
    assert max(map(len, whole)) > 200
    assert any("…" in line for line in cut)
    assert not any("…" in line for line in whole)
