"""Routine lines are most of a log: nothing that is looked for may meet them.

Every line that a probe meets costs a callback and is kept as evidence. A signal once looked for a
bare number, another for `loss scale`: each met every metric line and halved the speed of the scan.
"""

import pytest

from app.compress.scan import Scanner
from tests.own_rules import COMPILED

ROUTINE = [
    (rule.name, line)
    for rule in COMPILED.rulebook.filters
    if rule.do == "drop"
    for line in rule.hits
]


@pytest.mark.parametrize(("name", "line"), ROUTINE, ids=[name for name, _ in ROUTINE])
def test_no_probe_meets_an_example_of_a_routine_line(name, line):
    scanned = Scanner(COMPILED).scan(memoryview(line.encode() + b"\n"))
    met = [COMPILED.probes[number].source for number in scanned.hit_probes.tolist()]
    assert not met
    assert not len(scanned.kept)
