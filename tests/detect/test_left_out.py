"""The one rank that did not say what all others said, or that is in another place."""

from collections.abc import Iterable

from app.detect.left_out import left_out
from app.model import Line


def said(text: str, *ranks: int) -> list[Line]:
    return [Line(0, 10 + rank, text, text, rank) for rank in ranks]


def listed(*texts: str) -> list[Line]:
    return [Line(0, number, text, text) for number, text in enumerate(texts, 1)]


def named(lines: Iterable[Line]) -> list[int | None]:
    return [place.rank for place in left_out(list(lines))]


ALL = said("writing shard 3", *range(6))


def test_who_alone_has_not_come_so_far_is_named() -> None:
    assert named([*ALL, *said("wrote shard 3", 0, 1, 2, 4, 5)]) == [3]


def test_nobody_is_where_several_are_missing_or_rank_0_or_others_elsewhere() -> None:
    assert named([*ALL, *said("wrote shard 3", 0, 1, 2, 4)]) == []
    assert named([*ALL, *said("wrote shard 3", 1, 2, 3, 4, 5)]) == []
    more = said("closed shard 3", 0, 1, 2, 3, 4)
    assert named([*ALL, *said("wrote shard 3", 0, 1, 2, 4, 5), *more]) == []


def test_nor_among_few_ranks_or_where_no_line_is_said_by_all() -> None:
    assert named([*said("writing shard", 0, 1, 2), *said("wrote shard", 0, 1)]) == []
    assert named([*said("up and running", 5), *said("wrote shard 3", 0, 1, 2, 3, 4)]) == []


def test_the_odd_one_of_a_list_is_named() -> None:
    wait = "[stack] rank {}: wait <- barrier <- save"
    lines = [wait.format(0), wait.format(1), wait.format(57)]
    assert named(listed(*lines, "[stack] rank 74: join <- write_shard")) == [74]
    assert named(listed(*lines[:2], "[stack] rank 74: join <- write_shard")) == []
    assert named(listed(*lines, "[stack] rank 7: a <- b", "[stack] rank 9: c <- d")) == []
