"""YAML with the line of every value, so that a fault can say where it stands."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from app.errors import RuleError


class Document:
    """One rule file: its value, and the line of each part of it.

    Of a key that is given twice the last value counts; `repeated` says where that happens.
    """

    def __init__(self, path: Path, value: object, root: yaml.Node | None) -> None:
        self.path = path
        self.value = value
        self._root = root

    @property
    def repeated(self) -> tuple[RuleError, ...]:
        """A fault for each key that stands twice in one mapping."""
        return tuple(
            RuleError(self.path, key.start_mark.line + 1, f"`{key.value}` is given twice")
            for key in _repeated_keys(self._root, set())
        )

    def fault(self, at: Sequence[int | str], text: str) -> RuleError:
        """Build the error for a part of the file; of an unknown part, for its nearest parent."""
        return RuleError(self.path, self.line(at), text)

    def line(self, at: Sequence[int | str]) -> int:
        """Say where a part begins."""
        node, line = self._root, 1
        for step in at:
            key, node = _child(node, step)
            if node is None:
                break
            line = (key or node).start_mark.line + 1
        return line


def _child(node: yaml.Node | None, step: int | str) -> tuple[yaml.Node | None, yaml.Node | None]:
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key.value == str(step):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def read(path: Path) -> Document:
    """Parse one file safely; raise RuleError for what is not YAML or cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RuleError(path, 1, f"cannot be read: {error.strerror}") from error
    loader = yaml.CSafeLoader(data)
    try:
        root = loader.get_single_node()
        value = loader.construct_document(root) if root is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise RuleError(path, mark.line + 1 if mark else 1, f"not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError) as error:  # a date such as 2026-02-31
        raise RuleError(path, 1, f"not YAML: {error}") from error
    except RecursionError as error:
        raise RuleError(path, 1, "not YAML that a rule needs: nested too deeply") from error
    finally:
        loader.dispose()
    return Document(path, value, root)


def _repeated_keys(node: yaml.Node | None, walked: set[int]) -> Iterator[yaml.Node]:
    if node is None or id(node) in walked:  # an alias leads to a node that was walked before
        return
    walked.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_keys(item, walked)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key
            seen.add(key.value)
            yield from _repeated_keys(value, walked)
