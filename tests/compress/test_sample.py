import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.compress.sample import WHOLE, sampled


def test_a_small_block_is_read_entirely():
    assert list(sampled(500, WHOLE, 3)) == list(range(500))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.integers(0, 300_000), st.sampled_from([10, WHOLE, WHOLE + 1, 8 << 20]), st.integers(0, 500)
)
def test_lines_come_in_order_once_and_the_last_are_among_them(lines, size, before):
    chosen = list(sampled(lines, size, before))
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(range(lines))
    assert set(range(max(0, lines - 20), lines)) <= set(chosen)


@pytest.mark.parametrize(("before", "most"), [(0, 4100), (9, 520), (500, 260)])
def test_windows_grow_rare_as_the_log_goes_on(before, most):
    chosen = list(sampled(40_000, 8 << 20, before))
    assert most / 2 < len(chosen) <= most


def test_lines_stand_in_runs_so_that_neighbours_explain_each_other():
    chosen = list(sampled(40_000, 8 << 20, 4))
    begins = [n for n in chosen if n - 1 not in set(chosen)]
    assert all(set(range(n, n + 20)) <= set(chosen) for n in begins)


def test_a_job_of_many_small_files_is_not_read_entirely():
    assert sum(len(list(sampled(2000, 300_000, before))) for before in range(1000)) < 400_000


def test_a_small_block_of_very_many_lines_is_not_read_entirely():
    assert len(list(sampled(WHOLE, WHOLE, 0))) < 10_000
