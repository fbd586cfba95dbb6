"""How a log looks before it is read, also where it cannot be looked at."""

import asyncio
from pathlib import Path

from app.work.settling import glance, settled


def test_a_log_that_is_written_to_looks_otherwise(tmp_path):
    log = tmp_path / "job.log"
    log.write_text("step 1\n")
    before = glance([log])
    log.write_text("step 1\nstep 2\n")
    assert before.is_whole
    assert glance([log]).state != before.state


def test_what_cannot_be_looked_at_counts_as_missing(tmp_path):
    missing = glance([tmp_path / "none.log"])
    too_long = glance([tmp_path / ("x" * 300)])
    below_a_file = glance([Path("/dev/null/job.log")])
    assert [look.is_whole for look in (missing, too_long, below_a_file)] == [False] * 3


def test_a_log_that_never_comes_is_waited_for_no_longer_than_may_be(tmp_path):
    places = [tmp_path / ("x" * 300)]
    state = asyncio.run(asyncio.wait_for(settled(places, 60.0, 0.1), timeout=10))
    assert state == glance(places).state
