"""The project's own rules with all that proves them, read once in each process."""

from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from tests.places import CACHE, RULES

COMPILED = Compiled(load(RULES), CACHE)
