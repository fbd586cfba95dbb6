import pytest
from pydantic import ValidationError

from app.reason.forms import FilterReply, SignalReply, opinion_among

_FILTER = {
    "name": "ping_lines",
    "title": "Pings",
    "why": "printed each second",
    "match": "heartbeat from rank \\d+",
    "hits": ["heartbeat from rank 3"],
    "misses": ["no heartbeat from rank 3"],
    "claimed_share": 0.4,
}
_SIGNAL = {
    "why": "the fan stops",
    "name": "fan_stopped",
    "says": "a fan stands still",
    "strength": "proof",
    "match": ["fan \\d+ stopped"],
    "hits": ["fan 3 stopped"],
    "misses": ["fan 3 started"],
}


def test_a_filter_and_a_signal_are_read() -> None:
    assert FilterReply.model_validate(_FILTER).claimed_share == 0.4
    assert SignalReply.model_validate(_SIGNAL).match == ("fan \\d+ stopped",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"match": "heartbeat(?=s)"}, "match"),
        ({"match": "(a+)\\1heartbeat"}, "match"),
        ({"match": "\\d+"}, "literal characters"),
        ({"claimed_share": 40}, "less than or equal to 1"),
        ({"hits": []}, "hits"),
        ({"name": "Ping Lines"}, "pattern"),
    ],
)
def test_a_filter_that_cannot_be_run_is_told_to_the_model(
    change: dict[str, object], told: str
) -> None:
    with pytest.raises(ValidationError, match=told):
        FilterReply.model_validate({**_FILTER, **change})


@pytest.mark.parametrize(
    "change",
    [{"match": []}, {"exception": ["KeyError"]}, {"message": "no such fan"}, {"strength": "sure"}],
)
def test_a_signal_matches_in_one_way(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SignalReply.model_validate({**_SIGNAL, **change})


def test_an_opinion_names_one_of_the_causes() -> None:
    form = opinion_among(["KeyError", "Unknown"])
    assert form is opinion_among(["Unknown", "KeyError"])
    reply = {"quotes": [], "against": "all", "confidence": "doubtful", "cause": "ECCError"}
    with pytest.raises(ValidationError, match="'KeyError' or 'Unknown'"):
        form.model_validate(reply)
