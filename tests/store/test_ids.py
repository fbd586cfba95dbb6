import time

from app.store.ids import first_id_at, is_id, new_id


def test_ids_are_valid_and_never_the_same():
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(is_id(id) for id in ids)


def test_ids_sort_by_the_time_they_were_given():
    first = new_id()
    time.sleep(0.002)
    assert first < new_id()


def test_the_first_id_of_a_time_divides_earlier_from_later_ones():
    before = new_id()
    time.sleep(0.002)
    border = first_id_at(time.time())
    assert before < border <= new_id()


def test_times_that_no_id_can_hold_are_bounded():
    assert is_id(first_id_at(-5.0))
    assert is_id(first_id_at(1e18))
    assert first_id_at(-5.0) < new_id() < first_id_at(1e18)


def test_what_cannot_be_an_id_is_told_apart():
    for text in (
        "",
        "dg_",
        "dg_\x00",
        new_id().lower(),
        new_id() + "0",
        new_id() + "\n",
        "x" * 999,
    ):
        assert not is_id(text)
