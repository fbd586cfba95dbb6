"""What is kept of written filters: one by one, by type, with their use."""

import time

import pytest
from sqlalchemy import update

from app.errors import NotFound
from app.store.database import connect, transaction
from app.store.filter_tables import FilterRow
from app.store.filters import Filters
from app.store.job_types import JobTypes
from app.store.migrate import migrate
from app.written import Kind, Proposal, Routine, Seen, Volume

BUDGET = 6_000
ORBIT, LOOM = frozenset(range(10)), frozenset(range(50, 60))
SMALL = Volume(tokens=100, lines=1_000, kept=5)
LARGE = Volume(90_000, 1_000, 900, (Kind("tick #", 800, ("tick 3", "tick 4")),))


@pytest.fixture
def engine(tmp_path):
    engine = connect(f"sqlite:///{tmp_path / 'x.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def types(engine):
    return JobTypes(engine)


@pytest.fixture
def filters(engine):
    return Filters(engine)


def proposal(name="ticks", match=r"tick \d+"):
    return Proposal(name, "Ticks", "Routine.", match, ("tick 3",), ("tock",), 4, 5, 0.8)


def note(types, volume=LARGE, given="orbit", outline=ORBIT, applied=None):
    return types.note(Seen(given, outline, volume, applied), BUDGET, "dg_1")


def removing(**removed):
    return Volume(100, 1_000, 5, (), removed)


def test_a_log_over_the_budget_wants_filters_and_keeps_what_a_model_is_shown(types):
    noted = note(types)
    assert (noted.job_type, noted.wants_filters, noted.collapsed) == ("orbit", True, None)
    material = types.material("orbit")
    assert (material.volume, material.diagnosis_id) == (LARGE, "dg_1")


def test_a_log_within_the_budget_wants_none(types):
    assert not note(types, SMALL).wants_filters
    assert types.material("orbit") is None


def test_filters_are_kept_once_a_writing(types, filters):
    note(types)
    assert types.keep("orbit", 0, (proposal(),), "m log_agent/2")
    assert not types.keep("orbit", 0, (proposal(),), "m log_agent/2")
    (one,) = filters.page("orbit")
    assert (one.name, one.author, one.votes, one.state) == ("ticks", "m log_agent/2", 4, "active")
    assert (one.hits, one.misses, one.taken) == (("tick 3",), ("tock",), 0)


def test_the_writing_under_way_bears_one_number_until_it_is_done(types):
    assert note(types).writings == note(types).writings == 0
    types.keep("orbit", 0, (), "m")
    later = [note(types) for _ in range(12)]
    assert {noted.writings for noted in later if noted.wants_filters} == {1}


def test_after_a_writing_there_is_a_pause_that_doubles(types):
    pauses = []
    for writing in range(3):
        jobs = 1
        while not note(types).wants_filters:
            jobs += 1
        pauses.append(jobs)
        types.keep("orbit", writing, (), "m")
    assert pauses == [1, 10, 20]


def test_logs_that_stop_to_compress_are_told_of_and_want_filters_before_the_pause_ends(types):
    note(types)
    types.keep("orbit", 0, (proposal(),), "m")
    for _ in range(5):
        note(types, SMALL)
    noted = note(types)
    assert noted.collapsed == "90.00% of the lines are left, 0.50% as a rule"
    assert noted.wants_filters


def test_a_type_that_never_compressed_does_not_collapse(types):
    assert [note(types).collapsed for _ in range(6)] == [None] * 6


def test_a_log_without_a_type_belongs_to_the_one_that_it_is_like(types):
    note(types)
    assert note(types, given=None, outline=ORBIT - {3}).job_type == "orbit"
    assert note(types, given=None, outline=LOOM).job_type.startswith("auto-")
    assert note(types, given=None, outline=frozenset()) is None


def test_a_new_type_begins_with_the_filters_of_the_nearest(types, filters):
    note(types)
    types.keep("orbit", 0, (proposal(), proposal("tocks", "tock [a-z]+")), "m")
    filters.switch(filters.page("orbit")[1].id, on=False)
    note(types, SMALL, given="orbit-large", outline=frozenset(range(5, 14)))
    (copied,) = filters.page("orbit-large")
    assert (copied.name, copied.based_on) == ("ticks", filters.page("orbit", "active")[0].id)
    note(types, SMALL, given="other", outline=LOOM)
    assert not filters.page("other")


def test_only_active_filters_are_run(types, filters):
    note(types)
    types.keep("orbit", 0, (proposal(),), "m")
    (known,) = filters.known("orbit")
    assert known.routines == (Routine("ticks", r"tick \d+"),)
    (one,) = filters.page()
    assert filters.switch(one.id, on=False).state == "off"
    assert filters.known("orbit")[0].routines == ()
    assert filters.switch(one.id, on=True).state == "active"
    assert filters.known("orbit")[0].routines == known.routines


def test_a_type_that_is_not_known_gives_all_for_comparison(types, filters):
    note(types)
    assert [known.name for known in filters.known("new")] == ["orbit"]
    assert filters.known()[0].outline == ORBIT


def test_what_it_takes_away_is_counted(types, filters):
    note(types)
    types.keep("orbit", 0, (proposal(), proposal("tocks", "tock [a-z]+")), "m")
    for _ in range(3):
        note(types, removing(ticks=300), applied="orbit")
    ticks, tocks = filters.page("orbit")
    assert (ticks.taken, ticks.idle_jobs) == (900, 0)
    assert (tocks.taken, tocks.idle_jobs) == (0, 3)


def test_what_takes_nothing_from_fifty_jobs_is_retired_and_may_come_back(types, filters):
    note(types)
    types.keep("orbit", 0, (proposal(),), "m")
    for _ in range(50):
        note(types, SMALL, applied="orbit")
    (one,) = filters.page("orbit")
    assert one.state == "retired"
    assert filters.switch(one.id, on=True).state == "active"


def test_what_takes_nothing_for_ninety_days_is_retired(types, filters, engine):
    note(types)
    types.keep("orbit", 0, (proposal(), proposal("tocks", "tock [a-z]+")), "m")
    with transaction(engine) as connection:
        long_ago = update(FilterRow).where(FilterRow.name == "ticks")
        connection.execute(long_ago.values(last_hit_at=time.time() - 91 * 86_400))
    assert filters.retire_idle() == 1
    assert [one.name for one in filters.page(state="retired")] == ["ticks"]


def test_a_name_that_is_taken_gets_a_number(types, filters):
    note(types)
    types.keep("orbit", 0, (proposal(),), "m")
    types.keep("orbit", 1, (proposal(match="tick [0-9]+ of"),), "m")
    assert [one.name for one in filters.page()] == ["ticks", "ticks_2"]


def test_a_filter_that_is_not_there_is_not_found(filters):
    with pytest.raises(NotFound):
        filters.switch("fr_no", on=True)
