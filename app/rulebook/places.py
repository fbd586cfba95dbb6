"""YAML with the line of every value, so that a fault can say where it stands."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from app.errors import RuleError


class Document:
    """One rule file: its value, and the line of each part of it."""

    def __init__(self, path: Path, value: object, root: yaml.Node | None) -> None:
        self.path = path
        self.value = value
        self._root = root

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
        for key, value in node.value:
            if key.value == str(step):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return None, node.value[step]
    return None, None


def read(path: Path) -> Document:
    """Parse one file safely; raise RuleError for what is not YAML or names a key twice."""
    loader = yaml.CSafeLoader(path.read_bytes())
    try:
        root = loader.get_single_node()
        value = loader.construct_document(root) if root is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise RuleError(path, mark.line + 1 if mark else 1, f"not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise RuleError(path, 1, f"not YAML: {error}") from error
    finally:
        loader.dispose()
    document = Document(path, value, root)
    _refuse_repeated_keys(path, root)
    return document


def _refuse_repeated_keys(path: Path, node: yaml.Node | None) -> None:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(path, item)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise RuleError(path, key.start_mark.line + 1, f"`{key.value}` is given twice")
            seen.add(key.value)
            _refuse_repeated_keys(path, value)
