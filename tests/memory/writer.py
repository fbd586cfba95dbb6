"""Adds, confirms and indexes incidents until it is killed; writes down each that it promised."""

import itertools
import os
from pathlib import Path

from app.memory import chroma  # noqa: F401  # for the fork server: it takes a second to import
from app.memory.embed import HashingEmbedder
from app.memory.nearest import Memory
from app.work.keeper import index_of
from tests.memory.past import Past


def write(folder: Path, promises: Path, start: int) -> None:
    past = Past(folder)
    open_index = index_of(folder / "memory", None, 5)
    memory = Memory(past.incidents, HashingEmbedder(), lambda: open_index(HashingEmbedder.name))
    told = os.open(promises, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in itertools.count(start):
        word = letters(number)
        past.add_many("ValueError", [f"ValueError: {word} {letters(part)}" for part in range(20)])
        id = past.add("Unknown", f"FrobnicatorError: flux {word} is inverted")
        past.incidents.confirm(id, "mira", cause="RuntimeError")
        memory.catch_up()
        os.write(told, f"{id} {word}\n".encode())


def letters(number: int) -> str:
    """Spell a number in letters, which no mask takes away."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
