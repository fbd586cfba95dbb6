"""What holds for every file: sizes, names, and where the environment is read.

Who may import whom is held by the contracts in pyproject.toml, which `make lint` checks.
"""

import ast
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
CODE = sorted((ROOT / "app").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

_MOST_LINES = 400
_MOST_LINES_OF_A_FUNCTION = 60
# Names that say nothing of what is in a file, and collect whatever has no better place.
_SAYS_NOTHING = {
    "utils", "util", "helpers", "helper", "common", "misc", "core", "manager", "managers",
    "handler", "handlers", "processor", "types", "models", "base",
}  # fmt: skip
_SAYS_LITTLE = re.compile(r"(?:Data|Info|Result|Utils?|Helper|Manager|Handler|Processor)$")
_OLD_AND_NEW = re.compile(r"^(?:new|old)_|_v\d+$|\d_old$")


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _over(paths: Sequence[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Make one test of a check of each file; it tells of all files that fail."""

    def as_test(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            failing = {}
            for path in paths:
                try:
                    check(path)
                except AssertionError as error:
                    failing[_named(path)] = str(error)
            assert failing == {}

        test.__doc__ = check.__doc__
        return test

    return as_test


each_file = _over(CODE + TESTS)
each_module = _over(CODE)


@each_file
def test_no_file_is_longer_than_a_reader_can_hold(path: Path) -> None:
    """A module that grew to 4,800 lines is what each code base that we learned from regrets."""
    assert path.read_text().count("\n") <= _MOST_LINES


@each_module
def test_no_function_is_longer_than_a_screen(path: Path) -> None:
    long = {
        node.name: node.end_lineno - node.lineno
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= _MOST_LINES_OF_A_FUNCTION
    }
    assert not long


@each_file
def test_files_and_classes_say_what_they_are(path: Path) -> None:
    """`utils.py` is where the next reader does not look."""
    parts = {*path.relative_to(ROOT).parent.parts, path.stem}
    assert not parts & _SAYS_NOTHING
    assert not _OLD_AND_NEW.search(path.stem)
    classes = [n.name for n in ast.walk(_tree(path)) if isinstance(n, ast.ClassDef)]
    assert not [name for name in classes if _SAYS_LITTLE.search(name)]


@each_module
def test_a_module_says_what_it_is_for(path: Path) -> None:
    module = _tree(path)
    if module.body:
        first, *_ = (ast.get_docstring(module) or "").split("\n")
        assert first.endswith((".", ":", "?"))
        assert "!" not in first


@each_module
def test_only_the_settings_and_the_terminal_read_the_environment(path: Path) -> None:
    """What is read in ten places is documented in none."""
    own = (Path("settings.py"), Path("cli/page.py"))
    named = path.relative_to(ROOT / "app")
    if named in own or named.parts[0] == "senders":  # hooks are told all by their environment
        return
    assert not re.search(r"\bos\.(?:environ|getenv)\b", path.read_text())


@each_module
def test_nobody_swallows_all_errors_and_nobody_loads_pickles(path: Path) -> None:
    """Who catches everything hides the bug; a pickle runs what it holds."""
    tree = _tree(path)
    imported = {
        name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    assert not imported & {"pickle", "marshal", "shelve"}
    bare = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and not n.type]
    assert not bare
    assert not re.search(r"yaml\.(?:load|full_load|unsafe_load)\(", path.read_text())


@each_file
def test_comments_leave_no_debts(path: Path) -> None:
    text = path.read_text()
    if path.name != Path(__file__).name:
        assert not re.search(r"#\s*(?:TODO|FIXME|XXX)\b|#\s*-{4,}", text)
