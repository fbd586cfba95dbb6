"""Tell a job that runs again from an agent of its platform that was started again.

The logs of agents are kept beside those of the ranks. An agent that is started anew begins its log
in the same words as before, and no training begins with it.
"""

from collections.abc import Mapping, Sequence

from app.model import Compressed


def of_the_job(
    restarted: Mapping[int, Sequence[int]], known: Mapping[int, Sequence[int]], log: Compressed
) -> Mapping[int, Sequence[int]]:
    """Leave out the restarts, by file, in which no other file shares; `known` are cuts by marks.

    Where files hold steps of training, one of them must begin anew. Else another file must have
    begun anew, or have gone on.
    """
    cut = {file for found in (restarted, known) for file, cuts in found.items() if cuts}
    trained = {point.file for point in log.points if point.step is not None}
    if trained:
        return restarted if cut & trained else {}
    last: dict[int, float] = {}
    for line in log.lines:
        if line.time is not None:
            last[line.file] = max(line.time, last.get(line.file, line.time))
    if len(cut) > 1 or len(last) < len(log.files):
        return restarted
    return {
        file: cuts
        for file, cuts in restarted.items()
        if not cuts or len(last) == 1 or _went_on(log, file, cuts[0], last)
    }


def _went_on(log: Compressed, file: int, cut: int, last: Mapping[int, float]) -> bool:
    """Say whether another file has a line that is later than a cut in this one."""
    times = [
        line.time
        for line in log.lines
        if line.file == file and line.number >= cut and line.time is not None
    ]
    others = [time for other, time in last.items() if other != file]
    return not times or max(others) >= min(times)
