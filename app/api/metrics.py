"""What Prometheus may ask for; one registry for each app, so that nothing is global."""

from collections.abc import Iterator
from itertools import groupby

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.service import Service
from app.service.outlook import Outlook

_BUCKETS = (0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600)
_INDEX_STATES = ("whole", "filling", "gone", "down", "off")


class Metrics:
    """Figures of the HTTP side, counted here, and of the service, read from its tally."""

    def __init__(self, service: Service) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_OfService(service))
        self._registry.register(service.timings.stages)
        self._registry.register(service.timings.answers)
        self._requests = Histogram(
            "firstfault_http_request_seconds",
            "Time from a request to the end of its response",
            ("method", "route", "status"),
            buckets=_BUCKETS,
            registry=self._registry,
        )

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note a request that was answered."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def text(self) -> bytes:
        """Give all figures in the text format."""
        return generate_latest(self._registry)


class _OfService(Collector):
    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        crew = self._service.crew
        tally = crew.tally
        complete = CounterMetricFamily(
            "firstfault_diagnoses_complete", "Diagnoses that have an answer", labels=["cause"]
        )
        for cause, count in sorted(tally.complete.items()):
            complete.add_metric([cause], count)
        failed = CounterMetricFamily(
            "firstfault_diagnoses_failed", "Diagnoses that could not be made", labels=["kind"]
        )
        for kind, count in sorted(tally.failed.items()):
            failed.add_metric([kind], count)
        yield complete
        yield failed
        yield CounterMetricFamily(
            "firstfault_diagnosis_cpu_seconds", "CPU time of the workers", tally.cpu_seconds
        )
        yield CounterMetricFamily(
            "firstfault_uploaded_bytes",
            "Bytes of logs received",
            self._service.intake.uploaded_bytes,
        )
        yield CounterMetricFamily(
            "firstfault_worker_deaths", "Worker processes that were replaced", crew.deaths
        )
        yield GaugeMetricFamily(
            "firstfault_uploads_in_progress",
            "Logs that are being sent",
            self._service.intake.receiving,
        )
        yield from _of_listeners(self._service)
        yield from _of_outlook(self._service.lookout.last)
        yield from _of_people(self._service)
        yield from _of_filters(self._service)
        yield from _of_model(self._service)
        yield GaugeMetricFamily("firstfault_running", "Diagnoses that run", crew.running)


def _of_listeners(service: Service) -> Iterator[Metric]:
    tries = CounterMetricFamily(
        "firstfault_deliveries",
        "Tries to tell a listener: sent, failed (to be tried again), dead (the last one failed)",
        labels=["listener", "result"],
    )
    for (listener, result), count in sorted(service.listeners.tries.items()):
        tries.add_metric([listener, result], count)
    yield tries


def _of_outlook(outlook: Outlook) -> Iterator[Metric]:
    """Tell what all replicas share, as it was when this one looked last."""
    for name, told, counts in (
        ("unfinished", "Accepted diagnoses without an answer: waiting for a log, or queued",
         outlook.unfinished),
        ("oldest_unfinished_seconds", "Time since the oldest of them was accepted",
         outlook.oldest),
    ):  # fmt: skip
        family = GaugeMetricFamily(f"firstfault_{name}", told, labels=["status"])
        for status, count in counts.items():
            family.add_metric([status], count)
        yield family
    yield GaugeMetricFamily(
        "firstfault_dead_deliveries", "Messages that no listener took", outlook.dead
    )
    yield GaugeMetricFamily(
        "firstfault_database_up", "Whether the database answers", outlook.database
    )
    index = outlook.index
    states = GaugeMetricFamily(
        "firstfault_memory_index", "How the index of past incidents fares", labels=["state"]
    )
    for state in _INDEX_STATES:
        states.add_metric([state], state == index.state)
    yield states
    yield GaugeMetricFamily(
        "firstfault_memory_incidents", "Past incidents that are known", index.known
    )
    yield GaugeMetricFamily(
        "firstfault_memory_indexed", "Past incidents that are in the index", index.indexed
    )


def _of_people(service: Service) -> Iterator[Metric]:
    """Tell how answers came about, and how they fared with people, by their last words."""
    answers = CounterMetricFamily(
        "firstfault_answers",
        "First answers, by the path that led there and whether a cause is known",
        labels=["method", "known"],
    )
    for (method, known), count in sorted(service.crew.tally.methods.items()):
        answers.add_metric([method, known], count)
    yield answers
    score = service.reviews.score
    reviewed = GaugeMetricFamily(
        "firstfault_reviewed",
        "Answers that people confirmed or corrected",
        labels=["method", "right"],
    )
    for right, counts in (("yes", score.right), ("no", score.wrong)):
        for method, count in sorted(counts.items()):
            reviewed.add_metric([method, right], count)
    yield reviewed
    yield GaugeMetricFamily(
        "firstfault_false_restarts",
        "Corrected answers that advised a restart which the right cause does not",
        score.false_restarts,
    )
    yield GaugeMetricFamily(
        "firstfault_false_cordons",
        "Corrected answers that advised to take out a host which the right cause does not",
        score.false_cordons,
    )


def _of_filters(service: Service) -> Iterator[Metric]:
    filters = service.filters
    yield CounterMetricFamily(
        "firstfault_compression_collapses",
        "Logs that compressed much worse than those of their type of job before",
        filters.collapses,
    )
    yield CounterMetricFamily(
        "firstfault_filters_written", "Filters of a model that passed all gates", filters.written
    )
    yield CounterMetricFamily(
        "firstfault_filters_refused", "Filters of a model that did not", filters.refused
    )


def _of_model(service: Service) -> Iterator[Metric]:
    """Tell what the calls of all processes took, as it was when this one looked last."""
    calls = CounterMetricFamily(
        "firstfault_model_calls", "Requests to the model", labels=["purpose", "outcome"]
    )
    tokens = CounterMetricFamily(
        "firstfault_model_tokens", "Tokens asked and answered", labels=["purpose", "direction"]
    )
    cost = CounterMetricFamily(
        "firstfault_model_cost", "Money spent, by the prices set", labels=["purpose"]
    )
    seconds = CounterMetricFamily(
        "firstfault_model_seconds", "Time that requests to the model took", labels=["purpose"]
    )
    for purpose, group in groupby(service.lookout.last.model, key=lambda each: each.purpose):
        own = list(group)
        for each in own:
            calls.add_metric([purpose, each.outcome], each.calls)
        tokens.add_metric([purpose, "asked"], sum(each.tokens_in for each in own))
        tokens.add_metric([purpose, "answered"], sum(each.tokens_out for each in own))
        cost.add_metric([purpose], sum(each.cost for each in own))
        seconds.add_metric([purpose], sum(each.seconds for each in own))
    yield from (calls, tokens, cost, seconds)
    refined = CounterMetricFamily(
        "firstfault_refined",
        "Doubtful answers that this process put to the model, by what came",
        labels=["result"],
    )
    for result, count in sorted(service.second.results.items()):
        refined.add_metric([result], count)
    yield refined
