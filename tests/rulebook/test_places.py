"""Each part of a rule file knows its line."""

from pathlib import Path

import pytest

from app.errors import RuleError
from app.rulebook.places import read

TEXT = """\
# a pump has two signals
title: Pumps
signals:
  - name: first
    match:
      - 'one'
      - 'two'

  - {name: second, match: 'three'}
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "pumps.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("at", "line"),
    [
        ((), 1),
        (("title",), 2),
        (("signals",), 3),
        (("signals", 0), 4),
        (("signals", 0, "match"), 5),
        (("signals", 0, "match", 1), 7),
        (("signals", 1, "match"), 9),
        (("signals", 1, "match", 0), 9),
        (("signals", 1, "says"), 9),
        (("signals", 7, "says"), 3),
        (("nothing", "at", 3), 1),
    ],
)
def test_a_part_is_found_or_else_its_nearest_parent(
    tmp_path: Path, at: tuple[int | str, ...], line: int
) -> None:
    assert read(written(tmp_path, TEXT)).line(at) == line


def test_a_fault_bears_file_and_line(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    assert str(read(path).fault(("signals", 1), "leaks")) == f"{path}:9: leaks"


def test_every_key_that_stands_twice_is_told_and_the_last_value_counts(tmp_path: Path) -> None:
    document = read(written(tmp_path, "a: 1\nb:\n  - {c: 1, c: 2}\na: 3\n"))
    assert [(fault.line, fault.fault) for fault in document.repeated] == [
        (3, "`c` is given twice"),
        (4, "`a` is given twice"),
    ]
    assert document.value == {"a": 3, "b": [{"c": 2}]}
    assert document.line(("a",)) == 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1\n", 3),
        ("a: 1\nb: 'x\n", 3),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\n\tb: 2\n", 2),
        ("a: 1\nb: !!python/object:os.system x\n", 2),
        ("? [1, 2]\n: 3\n", 1),
        (b"a: \xff\n", 1),
        ("a: 2026-02-31\n", 1),
        ("a: " + "[" * 5000, 1),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, line: int
) -> None:
    with pytest.raises(RuleError, match="not YAML") as caught:
        read(written(tmp_path, text))
    assert caught.value.line == line


def test_an_empty_file_has_no_value_and_a_first_line(tmp_path: Path) -> None:
    document = read(written(tmp_path, "# nothing yet\n"))
    assert (document.value, document.line(("title",)), document.repeated) == (None, 1, ())


def test_a_value_that_holds_itself_ends(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a: &ring [*ring]\n")).repeated == ()


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="cannot be read: No such file"):
        read(tmp_path / "gone.yaml")
