import json
import os
import subprocess
import sys

import pytest

from tests.memory.past import FAILURES, Past


@pytest.fixture
def remembering(firstfault, tmp_path):
    past = Past(tmp_path, "firstfault.db")
    for cause in FAILURES:
        past.add(cause)
    past.incidents.confirm(past.add("KeyError", FAILURES["KeyError"], fingerprint="x"), "mira")

    def run(*words, **more):
        chosen = {"FIRSTFAULT_DATA_DIR": str(tmp_path), "FIRSTFAULT_MEMORY": "yes", **more}
        return firstfault(*words, **chosen)

    yield run
    past.close()


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(
        "Traceback (most recent call last):\n"
        '  File "/home/mira/sft/run.py", line 61, in <module>\n'
        '    tokens = batch["packed_ids"]\n'
        "KeyError: 'packed_ids'\n"
    )
    return path


def test_incidents_are_found_by_words_by_a_log_and_by_an_incident(remembering, log):
    told = remembering("memory", "search", "bus error in a worker")
    assert told.status == 0, told
    assert "DataloaderKilled (not confirmed)" in told.out.splitlines()[0]
    told = remembering("memory", "search", "--log", log, "--json")
    items = json.loads(told.out)["items"]
    assert {item["cause"] for item in items} == {"KeyError"}
    told = remembering("memory", "search", "--incident", items[0]["id"], "--most", "1")
    assert told.out.startswith("1.00 KeyError")


def test_a_diagnosis_names_precedents_unless_rules_alone_are_asked(remembering, log):
    told = json.loads(remembering("diagnose", "--json", log).out)
    assert {one["cause"] for one in told["precedents"]} == {"KeyError"}
    assert any(one["confirmed"] for one in told["precedents"])
    assert "Seen before" in remembering("diagnose", log).out
    told = json.loads(remembering("diagnose", "--json", "--rules-only", log).out)
    assert told["precedents"] == []


def test_the_index_is_made_anew(remembering):
    told = remembering("memory", "rebuild")
    assert (told.status, told.err) == (0, "")
    assert told.out == f"{len(FAILURES) + 1} incidents are in the index\n"


def test_without_a_database_there_is_nothing_to_search_and_nothing_is_made(firstfault, tmp_path):
    chosen = {"FIRSTFAULT_DATA_DIR": str(tmp_path / "none"), "FIRSTFAULT_MEMORY": "yes"}
    assert "there is no memory" in firstfault.refused("memory", "search", "x", **chosen)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("words", [[], ["text", "--incident", "in_1"]])
def test_one_thing_is_searched_for_at_a_time(remembering, words):
    told = remembering("memory", "search", *words)
    assert told.status == 2
    assert "give one of" in told.err


def test_a_database_that_is_none_is_told_beside_the_answer(firstfault, tmp_path, log):
    (tmp_path / "firstfault.db").write_text("no database " * 400)
    chosen = {"FIRSTFAULT_DATA_DIR": str(tmp_path), "FIRSTFAULT_MEMORY": "yes"}
    told = json.loads(firstfault("diagnose", "--json", log, **chosen).out)
    assert told["primary"]["cause"] == "KeyError"
    assert any("past incidents cannot be asked" in remark for remark in told["remarks"])


def test_rules_alone_touch_neither_memory_nor_a_database(firstfault, log, tmp_path):
    """A cold start must stay fast: what memory needs takes seconds to import.

    Nor is arrow imported, which a short log does not need.
    """
    code = (
        "import sys; from app.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'chromadb', 'sqlalchemy', 'app.memory', 'torch', 'pyarrow'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "diagnose", "--rules-only", "--json", str(log)],
        capture_output=True,
        text=True,
        env={**os.environ, "FIRSTFAULT_CACHE_DIR": str(firstfault.cache)},
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "[]"
