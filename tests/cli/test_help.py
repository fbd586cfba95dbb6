from importlib.metadata import version

import pytest

from tests.cli.running import Command

_COMMANDS = [
    ("diagnose", "--json"),
    ("compress", "--tokens"),
    ("serve", "--port"),
    ("rules check", "every fault"),
    ("rules list", "--markdown"),
    ("rules graph", "explains"),
    ("rules try", "rule"),
    ("rules new", "cause"),
    ("rules proposals", "--state"),
    ("rules approve", "ID"),
    ("rules reject", "ID"),
    ("rules withdraw", "ID"),
    ("rules export", "signals/"),
    ("feedback", "--confirm"),
    ("fixtures add", "--primary"),
    ("fixtures check", "--min"),
    ("fake-model", "--script"),
    ("doctor", "--json"),
    ("senders slurm", "JobCompLoc"),
    ("senders kubernetes", "manifests"),
]


@pytest.mark.parametrize(("command", "word"), _COMMANDS, ids=[name for name, _ in _COMMANDS])
def test_every_command_explains_itself(firstfault: Command, command: str, word: str) -> None:
    told = firstfault(*command.split(), "--help")
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith(f"Usage: firstfault {command}")
    assert word in told.out


def test_without_a_command_all_commands_are_listed(firstfault: Command) -> None:
    told = firstfault()
    assert told.status == 0
    for name in {command.split()[0] for command, _ in _COMMANDS}:
        assert f"\n  {name} " in told.out


def test_the_version_is_told_without_a_command(firstfault: Command) -> None:
    told = firstfault("--version")
    assert told.status == 0
    assert told.out == f"firstfault {version('firstfault')}\n"
