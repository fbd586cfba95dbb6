"""The parts of the pages that are made from the program; `python -m tests.pages` writes them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import ByteSize
from pydantic_core import PydanticUndefined

from app.cli.rules import causes_table
from app.rulebook.load import load
from app.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "rules" / "README.md", ROOT / "docs" / "settings.md")
_PART = re.compile(r"<!-- (\w+)(?:: ([^\n]*))? -->\n(.*?)<!-- end -->", re.DOTALL)
# the two figures of an answer that no two runs share
_SECONDS = re.compile(r"\d+\.\d s$", re.MULTILINE)


def written_anew(page: Path) -> str:
    """Give the text of a page with its generated parts as they should be."""
    return _PART.sub(_filled, page.read_text())


def _filled(part: re.Match[str]) -> str:
    name, told, old = part[1], part[2] or "", part[3]
    made = {"example": _example, "settings": _settings, "causes": _causes}[name](told)
    same = _SECONDS.sub("", made) == _SECONDS.sub("", old)
    head = f"<!-- {name}{f': {told}' if told else ''} -->"
    return f"{head}\n{old if same else made}<!-- end -->"


def _example(command: str) -> str:
    words = command.removeprefix("firstfault ").split()
    done = subprocess.run(
        [sys.executable, "-m", "app.cli.main", *words],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "FIRSTFAULT_MEMORY": "no"},
        check=True,
    )
    lines = [f"$ {command}", *done.stdout.decode().rstrip().split("\n")]
    return "\n```text\n" + "".join(f"{line.rstrip()}\n" for line in lines) + "```\n\n"


def _settings(_: str) -> str:
    return "\n".join(
        ["", "| setting | default | meaning |", "| --- | --- | --- |", *_rows(), "", ""]
    )


def _rows() -> Iterator[str]:
    for name, field in Settings.model_fields.items():
        default = field.default
        if default is PydanticUndefined or default in (None, ()):
            shown = ""
        elif isinstance(default, ByteSize):
            shown = f"`{default.human_readable().replace('.0', '')}`"
        else:
            shown = f"`{default}`"
        yield f"| `FIRSTFAULT_{name.upper()}` | {shown} | {field.description} |"


def _causes(_: str) -> str:
    return f"\n{causes_table(load(ROOT / 'rules'))}\n\n"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written_anew(page))
