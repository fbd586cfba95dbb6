import json

from app.notify.message import event, slack

ANSWER = {
    "id": "dg_1",
    "status": "complete",
    "job": {"job_id": "4711", "cluster": "c1"},
    "primary": {
        "cause": "ECCError", "domain": "infrastructure", "confidence": "high",
        "summary": "A GPU's memory <failed> & died",
    },
    "suspects": [{"host": "gpu-7", "rank": 0, "gpu": None}],
    "recovery": {"action": "cordon_and_restart", "restart": True, "steps": ["Drain gpu-7."] * 5},
}  # fmt: skip
FAILED = {
    "id": "dg_2", "status": "failed", "job": {}, "error": {"kind": "SourceError", "detail": "no"}
}  # fmt: skip


def test_programs_get_the_answer_as_an_event():
    told = json.loads(event(ANSWER, 0.0))
    assert told["type"] == "diagnosis.completed"
    assert told["timestamp"] == "1970-01-01T00:00:00.000+00:00"
    assert told["data"] == ANSWER
    assert json.loads(event(FAILED, 0.0))["type"] == "diagnosis.failed"


def test_people_get_cause_place_and_what_to_do():
    text = json.loads(slack(ANSWER))["text"]
    assert text.startswith("*ECCError* (infrastructure, confidence high) · job 4711 on c1")
    assert "Where: host gpu-7, rank 0" in text
    assert "cordon_and_restart; an automatic restart is right" in text
    assert text.count("Drain gpu-7.") == 3


def test_what_a_log_says_is_no_markup():
    assert "A GPU's memory &lt;failed&gt; &amp; died" in json.loads(slack(ANSWER))["text"]


def test_a_failed_diagnosis_says_why():
    assert (
        "*No diagnosis* · job without a number\nSourceError: no"
        in json.loads(slack(FAILED))["text"]
    )
