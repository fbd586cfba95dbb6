from pathlib import Path

import pytest

from tests.cli.running import SHOWCASE, Command


def test_the_projects_own_rules_are_without_fault(firstfault: Command) -> None:
    told = firstfault("rules", "check")
    assert (told.status, told.err) == (0, "")
    assert told.out.endswith("no fault\n")


def test_all_faults_of_a_folder_are_told_at_once_each_with_its_place(plant: Command) -> None:
    rules = plant.rules
    assert rules
    cause = rules / "causes" / "plant" / "PumpFault.yaml"
    cause.write_text(cause.read_text().replace("    - of: Waiting", "    - of: Watiing"))
    signals = rules / "signals" / "pump.yaml"
    signals.write_text(signals.read_text().replace("strength: clue", "strength: hunch"))
    (rules / "filters").mkdir(exist_ok=True)
    (rules / "filters" / "broken.yaml").write_text("title: [\n")
    said = plant.refused("rules", "check").split("\n")
    assert said[0] == "firstfault: several faults:"
    places = [line.split(": ")[0].rpartition("/")[2].split(":")[0] for line in said[1:] if line]
    assert places == ["PumpFault.yaml", "broken.yaml", "pump.yaml"]
    assert "did you mean Waiting?" in said[1]
    assert all(line.split(":")[1].isdigit() for line in said[1:] if line)


@pytest.mark.parametrize(
    ("regex", "advice"),
    [
        (r"(?=pump) leaks", "look"),
        (r"(pump) \\1 leaks", "back"),
        (r"pump (\d+", "close it"),
    ],
    ids=["lookahead", "backreference", "open group"],
)
def test_a_regex_that_could_backtrack_is_refused_with_its_place_and_advice(
    plant: Command, regex: str, advice: str
) -> None:
    assert plant.rules
    signals = plant.rules / "signals" / "pump.yaml"
    written = signals.read_text().replace(r"pump (?P<pump>\d+) leaks", regex.replace("\\\\", "\\"))
    signals.write_text(written)
    said = plant.refused("rules", "check")
    assert "pump.yaml:" in said
    assert advice in said.lower()


def test_faulty_rules_stop_a_diagnosis_and_say_where(plant: Command, tmp_path: Path) -> None:
    assert plant.rules
    (plant.rules / "signals" / "pump.yaml").write_text("title: A pump\nsignal: []\n")
    assert "pump.yaml:2" in plant.refused("diagnose", SHOWCASE)


def test_a_folder_of_rules_that_is_not_there(firstfault: Command, tmp_path: Path) -> None:
    said = firstfault.with_rules(tmp_path / "nowhere").refused("rules", "check")
    assert "no such folder of rules" in said


def test_the_list_holds_each_cause_with_its_action(plant: Command) -> None:
    lines = plant("rules", "list").out.rstrip().split("\n")
    assert [line.split()[1] for line in lines] == ["PumpFault", "Waiting"]
    assert "cordon_and_restart" in lines[0]
    table = plant("rules", "list", "--markdown").out.split("\n")
    assert "| plant | `PumpFault` | `cordon_and_restart` | A pump failed |" in table


def test_the_graph_tells_who_explains_whom(plant: Command) -> None:
    assert "PumpFault → Waiting\n" in plant("rules", "graph").out


def test_trying_a_rule_shows_lines_facts_vetoes_and_the_verdict(
    plant: Command, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text("pump 7 leaks\nwaited 30 s for the pump\npump 8 runs\n")
    told = plant("rules", "try", "PumpFault", log).out
    assert "1: pump_leaks (proof) pump=7\n    pump 7 leaks\n" in told
    assert "root: PumpFault by pump_leaks (proof, 1 times, line 1): pump 7 leaks" in told
    assert "pump 8 runs" not in told


def test_without_a_rule_the_verdict_is_told_with_its_reasons(
    plant: Command, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        "pump 3 leaks one drip\npump 5 leaks, retrying\ncall us if pump 4 leaks\n"
        "waited 30 s for the pump\npump 7 leaks\n"
    )
    told = plant("rules", "try", log).out.split("\n")
    assert "pump_leaks left out by a benign line (line 1)" in told
    assert "pump_leaks weakened to clue: retry: retrying (line 2)" in told
    assert "pump_leaks left out: hedge: if (line 3)" in told
    explained = "through PumpFault by pump_leaks (always)"
    assert any(line.startswith("explained: Waiting") and explained in line for line in told)
    assert "ending: nobody says how it ended" in told
    assert "verdict: PumpFault (high), the only root" in told


def test_an_edge_that_does_not_hold_says_why(plant: Command, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("waited 30 s for the pump\npump 7 leaks\n")
    assert plant.rules
    cause = plant.rules / "causes" / "plant" / "PumpFault.yaml"
    cause.write_text(cause.read_text().replace("always:", "if_earlier:"))
    told = plant("rules", "try", "Waiting", log).out
    assert "not explained: Waiting by " in told
    assert "through PumpFault by pump_leaks: it did not come before" in told


def test_one_rule_and_one_log_are_enough(plant: Command, tmp_path: Path) -> None:
    assert "one rule" in plant.refused("rules", "try", "PumpFault", "Waiting", tmp_path / "a.log")


def test_trying_a_rule_that_meets_nothing_or_is_not_there(plant: Command, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("pump 8 runs\n")
    assert "PumpFault meets no line" in plant("rules", "try", "PumpFault", log).out
    assert "no cause, signal" in plant.refused("rules", "try", "FanFault", log)


def test_a_filter_shows_the_lines_that_it_would_take_away(firstfault: Command) -> None:
    log = SHOWCASE.parent.parent / "LossSpike" / "loss_triples_and_stays.log"
    told = firstfault("rules", "try", "megatron_metrics", log).out
    assert told.count("megatron_metrics") > 100


def test_a_new_cause_is_a_form_that_the_check_accepts(plant: Command) -> None:
    assert plant.rules
    told = plant("rules", "new", "plant/FanFault")
    assert told.status == 0
    assert (plant.rules / "causes" / "plant" / "FanFault.yaml").is_file()
    assert plant("rules", "check").out.startswith("3 causes")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("FanFault", "say <domain>/<Cause>"),
        ("garden/FanFault", "a domain of plant"),
        ("plant/fan_fault", "CamelCase"),
        ("plant/../FanFault", "CamelCase"),
        ("plant/PumpFault", "is there already"),
        ("plant/Completed", "is there already"),
    ],
)
def test_a_new_cause_needs_a_place_and_a_name(plant: Command, name: str, why: str) -> None:
    assert why in plant.refused("rules", "new", name)
