"""Read training progress from the metric lines of a log: points of step, loss, norm and pace.

Nearly all lines that come are metrics or none, and both in few shapes. A line without any word of
training is let go after a few searches. Of the rest the shape (the texts between the numbers) is
looked up: it is studied when first met (`app.compress.metrics`), and read by position from then.

What one line does not say, its neighbours may (`app.compress.metric_memory`); such memory ends
where lines are left out. Memory bound: at most twice `limit` points, and shapes of two million
characters.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from app.compress.metric_fields import number, parts_of
from app.compress.metric_goals import Goals
from app.compress.metric_memory import Block, Memory, Place
from app.compress.metric_tables import Row, Table, table
from app.compress.metric_tongues import in_english, is_foreign
from app.compress.metric_values import epoch_of, norm, progress, seconds_of_step, whole
from app.compress.metrics import Recipe, recipe
from app.compress.thinning import Track, Tracks
from app.model import Point

_LONGEST = 16_384
_LONGEST_SHOWN = 240  # characters of a line that are kept with its reading
_SHAPES_BUDGET = 2_000_000  # characters
_GAP = 4  # lines; more left out is another window of the log
_BAR = "bar of "
_MOST_IN_VAIN = 200_000  # characters
_MOST_HEADERS = 64  # lines that were looked at
# iter(train) [ 510/2046] | loss train (curr): 1.199 | 11.8750 loss, | [batch=160/3200]
_HINT = re.compile(
    r"(?:loss|step|iter|epoch|norm|scale|batch|%\||"
    r"(?<![a-z])(?:ce|nll|xent|mlm|ppl|perplexity|cost|entropy|l|bits|per_sec|mse|objective|l_total)\b)[^#]{0,32}#|"
    r"# loss|max: # epochs|#s/it"
)
_SURE = re.compile(r"(?:loss|step|(?<![a-z])(?:ce|nll|xent|mlm|ppl))[\"' :=]{1,4}#|%\|")
# a number that is no part of a word: a header has none
_LONE_NUMBER = re.compile(r"(?<![a-z_@])[0-9]|\bnan\b|\binf\b")
_UNSEEN = Recipe("")


class SeriesReader:
    """Takes lines of one file in order (windows of them on large logs); gives bounded points.

    A series is what shares file, rank and name.
    """

    def __init__(self, limit: int = 4096) -> None:
        """Keep at most `limit` points of a series, and twice that of all together."""
        self._tracks = Tracks(limit)
        self._recipes: dict[tuple[str, ...], Recipe | None] = {}
        self._shapes_size = 0
        self._in_vain = 0
        self._memories: dict[tuple[int, int | None], Memory] = {}
        self._headers: dict[str, Table | None] = {}
        self._table: Table | None = None
        self._goals = Goals()
        self._file = -1
        self._line = 0

    def feed(
        self, file: int, number: int, text: str, *, rank: int | None, time: float | None
    ) -> None:
        """Take one line, without prefix, colours and line end."""
        if file != self._file or number - self._line > _GAP:
            self._leave(file)
        self._line = number
        line = text.lower()
        if is_foreign(line):
            line = in_english(line)
        if self._table is not None:
            row = self._table.row(line)
            if row is not None:
                self._take_row(row, Place(file, number, rank, time, text[:_LONGEST_SHOWN]))
                return
        if not (
            "loss" in line
            or "step" in line
            or "iter" in line
            or "%|" in line
            or "epoch" in line
            or "norm" in line
            or "[batch=" in line
            or " ce" in line
            or "_ce" in line
            or "/ce" in line
            or "nll" in line
            or "xent" in line
            or " mlm" in line
            or " cost" in line
            or "cross" in line
            or "ppl" in line
            or "perplexity" in line
            or "bits" in line
            or "bpc" in line
            or "mse" in line
            or "objective" in line
            or "l_total" in line
            or "s/it" in line
            or "_per_sec" in line
        ):
            return
        if len(line) > _LONGEST:
            line = line[:_LONGEST]
        if not _LONE_NUMBER.search(line):
            self._table = self._header(line) or self._table
            return
        parts = parts_of(line)
        shape = tuple(parts[::2])
        how = self._recipes.get(shape, _UNSEEN)
        if how is _UNSEEN:
            how = self._study(shape)
        if how is not None:
            place = Place(file, number, rank, time, text[:_LONGEST_SHOWN])
            self._take(how, parts, line, place)

    def points(self) -> tuple[Point, ...]:
        """Give all points in order of (file, number)."""
        for memory in self._memories.values():
            self._close(memory)
        return tuple(
            replace(point, series=f"eval {point.series}") if self._is_of_eval(point) else point
            for point in self._goals.told(self._tracks.points())
        )

    def _header(self, line: str) -> Table | None:
        """Take a line without numbers for the header of a table, if it is one."""
        if line not in self._headers:
            if len(self._headers) >= _MOST_HEADERS:
                self._headers.clear()
            self._headers[line] = table(line)
        return self._headers[line]

    def _study(self, shape: tuple[str, ...]) -> Recipe | None:
        """Look at a new shape, unless too many were of no use: prose that speaks of steps."""
        whole = "#".join(shape)
        worth = _HINT if self._in_vain < _MOST_IN_VAIN else _SURE
        how = None
        if self._in_vain < 4 * _MOST_IN_VAIN and worth.search(whole):
            how = recipe(shape)
            self._in_vain += 0 if how else len(whole)
        self._shapes_size += len(whole) + 100
        if self._shapes_size > _SHAPES_BUDGET:
            self._recipes.clear()
            self._shapes_size = len(whole)
        self._recipes[shape] = how
        return how

    def _leave(self, file: int) -> None:
        """Lines are left out, or another file begins."""
        for memory in self._memories.values():
            self._close(memory)
            memory.forget_bars()
        if file != self._file:
            self._table = None
        self._file = file

    def _memory(self, place: Place) -> Memory:
        key = place.file, place.rank
        memory = self._memories.get(key)
        if memory is None:
            memory = self._memories[key] = Memory()
        return memory

    def _take(self, how: Recipe, parts: Sequence[str], text: str, place: Place) -> None:
        if how.goal or how.goal_epochs:
            self._goals.see(whole(parts[how.goal]) if how.goal else None)
            self._goals.see_epochs(whole(parts[how.goal_epochs]) if how.goal_epochs else None)
            return
        memory = self._memory(place)
        step, total = progress(how, parts)
        if how.opens:
            self._close(memory)
            epoch, epochs = epoch_of(how, parts, None)
            memory.block = Block(how, place, step, total, place.number, epoch, epochs)
            return
        loss = number(parts[how.loss]) if how.loss else None
        grad_norm = norm(parts[how.grad_norm]) if how.grad_norm else None
        seconds = seconds_of_step(how, parts) if how.seconds else None
        series = how.series
        block = memory.block
        if not how.step and block is not None and block.holds(text, place.number):
            step, total, block.last = block.step, block.total, place.number
            if how.evaluates:
                series = f"eval {block.head.series} {how.loss_key}"
            elif how.alone:
                block.told = True
            else:
                block.add(how, place, loss=loss, grad_norm=grad_norm, seconds=seconds)
                return
        elif not how.alone:
            return
        elif how.plain_bar and step is not None and total is not None:
            series = series.replace("bar", f"{_BAR}{total}", 1)
            memory.see_bar(step, total)
        elif how.quoted and not how.step:
            step, total = memory.step_of_dict(evaluates=how.evaluates)
        scale = number(parts[how.loss_scale]) if how.loss_scale else None
        if step is loss is grad_norm is scale is seconds is None:
            return
        track = self._tracks.track(place.file, place.rank, series)
        if track is None:
            return
        file, at, rank, time, said = place
        point = Point(
            file, at, series, time, rank, step, total, loss, grad_norm, scale, seconds, said,
            "epochs" if how.by_epoch else "",
        )  # fmt: skip
        epoch, epochs = epoch_of(how, parts, block)
        track.held.add(self._counted(point, track, epoch, epochs))

    def _take_row(self, row: Row, place: Place) -> None:
        kind = f"{self._table.kind} {row.column}" if self._table else row.column
        series = f"eval {kind}" if row.evaluates else kind
        track = self._tracks.track(place.file, place.rank, series)
        if track is not None:
            point = Point(
                file=place.file,
                number=place.number,
                series=series,
                time=place.time,
                rank=place.rank,
                step=whole(row.step) if row.step else None,
                total_steps=whole(row.total) if row.total else None,
                loss=number(row.loss) if row.loss else None,
                grad_norm=norm(row.grad_norm) if row.grad_norm else None,
                text=place.text,
            )
            track.held.add(point)

    def _close(self, memory: Memory) -> None:
        block, memory.block = memory.block, None
        point = block.point() if block is not None else None
        if point is not None:
            track = self._tracks.track(point.file, point.rank, point.series)
            if track is not None and block is not None:
                track.held.add(self._counted(point, track, block.epoch, block.epochs))

    def _counted(self, point: Point, track: Track, epoch: int | None, epochs: int | None) -> Point:
        if epoch is None or point.step is None or point.total_steps is None:
            return point
        return track.over_epochs(point, epoch, epochs or self._goals.epochs)

    def _is_of_eval(self, point: Point) -> bool:
        total = point.total_steps
        if total is None or point.series != f"{_BAR}{total}":
            return False
        memory = self._memories.get((point.file, point.rank))
        return memory is not None and not memory.is_of_training(total)
