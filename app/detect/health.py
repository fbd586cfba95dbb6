"""Training health from the series: loss spikes, losses that are no numbers, stalls.

These findings rest on what many lines tell together, so each shows the line where it began. They
are proofs: no run that goes well meets them, and a trainer that says that it is done does not
know better.
"""

from collections.abc import Sequence

from app.detect.finite import Broken, broken, learns, spent_scale
from app.detect.pace import remarks_on_pace
from app.detect.silence import is_dated
from app.detect.spike import Jump, jump
from app.detect.stall import Stall, stall
from app.detect.tracks import Shown, Track, of_the_job, still_running, tracks
from app.model import Ending, Finding, Line, Marked, Point, Sighting, Strength

_BROKEN = {
    "loss": "the loss is no number{at} and stays so to the end",
    "gradient norm": "the gradient norm is no number{at} and stays so to the end",
    "loss column": "the loss is left out{at} and later, as trainers do where it is no number",
    "loss scale": "the loss scale is at its minimum{at} and stays there",
}


def health(
    points: Sequence[Point],
    lines: Sequence[Line],
    ending: Ending,
    found: Sequence[Finding] = (),
    marks: Sequence[Marked] = (),
    *,
    trained_before: bool = False,
) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Give what the series of one attempt shows, and remarks that are no findings.

    `found` and `marks` are what its lines show by themselves; `trained_before` says that an earlier
    attempt in the same log made steps.
    """
    all_tracks = tracks(points)
    running = still_running(all_tracks)
    shown = Shown(lines)
    ill = (*_not_finite(running, all_tracks, shown), *_spiked(running, lines, shown))
    if not ill and ending.finished is None:
        stopped = stall(all_tracks, lines, found, marks, trained_before=trained_before)
        ill = (_stalled(stopped, shown),) if stopped else ()
    return ill, (*_checkpoints_before(ill, marks), *remarks_on_pace(running))


def _checkpoints_before(ill: Sequence[Finding], marks: Sequence[Marked]) -> tuple[str, ...]:
    """Say which checkpoint is the last from before the loss went wrong."""
    onset = next((f.first for f in ill if f.cause != "Stalled"), None)
    saved = [
        mark.facts["step"]
        for mark in marks
        if onset is not None
        and mark.kind == "saved"
        and "step" in mark.facts
        and (mark.line.file, mark.line.number) < (onset.file, onset.number)
    ]
    return (f"the last checkpoint that was saved before is of step {saved[-1]}",) if saved else ()


def _not_finite(
    running: Sequence[Track], all_tracks: Sequence[Track], shown: Shown
) -> tuple[Finding, ...]:
    others_learn = any(learns(track) for track in running)
    losses = [
        found
        for track in running
        if (found := broken(track))
        # Some ranks print NaN from the first for a loss that they do not have.
        and not (others_learn and found.onset is track.points[0])
    ]
    scales = [found for track in running if (found := spent_scale(track, all_tracks))]
    named = (("loss_not_finite", losses), ("loss_scale_at_minimum", scales))
    return tuple(_broken_finding(name, own, shown) for name, own in named if own)


def _broken_finding(name: str, own: Sequence[Broken], shown: Shown) -> Finding:
    first = min(own, key=lambda b: _order(b.onset))
    strength: Strength = "proof" if any(b.lasts for b in own) else "clue"
    summary = _BROKEN[first.what].format(at=_at(first.onset))
    return _finding("NonFiniteLoss", name, strength, [b.onset for b in own], summary, shown)


def _spiked(running: Sequence[Track], lines: Sequence[Line], shown: Shown) -> tuple[Finding, ...]:
    jumps = [found for track in running if (found := jump(track, lines))]
    if not jumps:
        return ()
    first = min(jumps, key=lambda j: _order(j.onset))
    return (
        _finding(
            "LossSpike",
            "loss_spike",
            "proof" if first.of == "loss" else "clue",
            [j.onset for j in jumps],
            _told(first),
            shown,
        ),
    )


def _told(found: Jump) -> str:
    text = (
        f"the {found.of} rose from {found.before:.3g} to {found.after:.3g}{_at(found.onset)} and"
        f" did not come back in {found.readings} readings"
    )
    if found.of == "loss" and found.norm_growth is not None:
        text += f"; the gradient norm is {found.norm_growth:.3g} times what it was"
    return text


def _finding(
    cause: str,
    signal: str,
    strength: Strength,
    onsets: Sequence[Point],
    summary: str,
    shown: Shown,
) -> Finding:
    ordered = sorted(onsets, key=_order)
    sightings = tuple(
        Sighting(signal, shown.line(point), strength, _step(point)) for point in ordered[:8]
    )
    times = [point.time for point in ordered if point.time is not None]
    return Finding(
        cause, signal, strength, sightings, len(ordered), min(times, default=None), summary
    )


def _stalled(found: Stall, shown: Shown) -> Finding:
    silence, last = found.silence, found.last_step
    facts = {"seconds": f"{silence.seconds:.0f}", **(_step(last) if last else {})}
    lines = [*found.quiet, shown.line(last) if last else of_the_job(found.last_sign)]
    sightings = tuple(
        Sighting("training_stalled", line, "proof", facts | _rank(line)) for line in lines[:8]
    )
    after = f" after the last step{_at(last)}" if last else ", and no step was made"
    return Finding(
        cause="Stalled",
        signal="training_stalled",
        strength="proof",
        sightings=sightings,
        count=len(sightings),
        onset=silence.since if is_dated(silence.since) else None,
        summary=f"nothing moved for {_long(silence.seconds)}{after}{_first_to_stop(found.quiet)}",
    )


def _first_to_stop(quiet: Sequence[Line]) -> str:
    rank = quiet[0].rank if quiet else None
    return "" if rank is None else f"; rank {rank} fell silent first"


def _rank(line: Line) -> dict[str, str]:
    return {} if line.rank is None else {"rank": str(line.rank)}


def _order(point: Point) -> tuple[float, int, int]:
    return point.time if point.time is not None else float("inf"), point.file, point.number


def _step(point: Point) -> dict[str, str]:
    return {} if point.step is None else {"step": str(point.step)}


def _at(point: Point) -> str:
    return "" if point.step is None else f" at step {point.step}"


def _long(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
