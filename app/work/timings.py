"""How long things take, as histograms for Prometheus; one set of them for each service.

Stages of one diagnosis: `log` (until the log of a reported exit is quiet), `queue` (for a free
worker), `fetch` (from the object store), `read` (and compress), `detect`, `judge`, `recall` (past
incidents), `recover` (advice and digest), `model`, `keep` (in the database) and `deliver` (one try
to tell one listener). They are measured where they happen and carried home with the outcome.
"""

from collections.abc import Mapping

from prometheus_client import Histogram

STAGES = (
    "log", "queue", "fetch", "read", "detect", "judge", "recall", "recover", "model", "keep",
    "deliver",
)  # fmt: skip
_BUCKETS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1800)


class Timings:
    """Both histograms; may be used from any thread."""

    def __init__(self) -> None:
        self.stages = Histogram(
            "firstfault_stage_seconds",
            "Time that each stage of a diagnosis takes",
            ("stage",),
            buckets=_BUCKETS,
            registry=None,
        )
        self.answers = Histogram(
            "firstfault_answer_seconds",
            "Time from a request, or the report of an exit, to its first answer",
            buckets=_BUCKETS,
            registry=None,
        )
        for stage in STAGES:
            self.stages.labels(stage)

    def note(self, stage: str, seconds: float) -> None:
        """Count one passage of a stage; a clock that jumped back counts as no time."""
        self.stages.labels(stage).observe(max(seconds, 0.0))

    def note_all(self, seconds: Mapping[str, float]) -> None:
        """Count what the stages of one reading took."""
        for stage, each in seconds.items():
            self.note(stage, each)
