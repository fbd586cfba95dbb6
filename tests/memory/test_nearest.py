import numpy as np
import pytest

from app.errors import NotFound
from app.incident import Snippet
from app.memory import index as whole
from app.memory.embed import HashingEmbedder
from app.memory.index import GONE, IndexBroken, IndexGone
from tests.memory.past import FAILURES


class ListIndex:
    """An index that remembers a list, and fails when it is told to."""

    def __init__(self):
        self.held = {}
        self.fault = None
        self.begun = 0

    def __call__(self):
        return self

    def add(self, ids, vectors):
        self._may_fail()
        self.held.update(zip(ids, vectors, strict=True))

    def nearest(self, vector, most):
        self._may_fail()
        return sorted(self.held, key=lambda id: -float(self.held[id] @ vector))[:most]

    def ids(self):
        self._may_fail()
        return set(self.held)

    def begin_anew(self):
        if isinstance(self.fault, IndexGone):
            raise self.fault
        self.fault = None
        self.begun += 1
        self.held = {}

    def _may_fail(self):
        if self.fault:
            raise self.fault


def causes(found):
    return [one.cause for one in found.precedents]


def snippet(text):
    return Snippet((text,))


@pytest.mark.parametrize("index", [None, ListIndex()], ids=["without an index", "with one"])
def test_the_likest_comes_first(past, index):
    for cause in FAILURES:
        past.add(cause)
    memory = past.memory(index)
    for cause, text in FAILURES.items():
        found = memory.nearest(snippet(text), 3)
        assert causes(found)[0] == cause
        assert found.precedents[0].similarity == pytest.approx(1, abs=0.001)
        assert found.note is None
    assert causes(memory.search(snippet("bus error worker"), 1)) == ["DataloaderKilled"]
    assert causes(memory.nearest(snippet("a wholly other thing"), 3)) == []


def test_an_incident_is_not_like_itself_and_repeats_stand_for_one(past):
    first = past.add("KeyError", fingerprint="same")
    past.add("KeyError", fingerprint="same")
    confirmed = past.add("KeyError", fingerprint="same")
    past.incidents.confirm(confirmed, "mira")
    found = past.memory().nearest(snippet(FAILURES["KeyError"]), 5, but=first)
    assert [(one.id, one.confirmed) for one in found.precedents] == [(confirmed, True)]


def test_a_correction_counts_at_once_and_only_for_its_incident(past):
    id = past.add("Unknown", FAILURES["NetworkError"])
    memory = past.memory()
    past.incidents.confirm(id, "mira", "cable replaced", cause="NetworkError")
    memory.catch_up()
    found = memory.nearest(snippet(FAILURES["NetworkError"]), 5)
    assert [(one.cause, one.confirmed) for one in found.precedents] == [("NetworkError", True)]
    kept = past.incidents.find(id.replace("in_", "dg_"))
    assert (kept.cause, kept.confirmed.by, kept.confirmed.note) == (
        "NetworkError", "mira", "cable replaced",
    )  # fmt: skip
    with pytest.raises(NotFound):
        past.incidents.confirm("in_none", "mira")


def test_finished_jobs_are_found_only_once_a_person_says_that_they_failed(past):
    id = past.add("Completed", "FrobnicatorError: the flux is inverted")
    memory = past.memory()
    assert memory.search(snippet("flux"), 5).precedents == ()
    past.incidents.confirm(id, "mira", cause="RuntimeError")
    memory.catch_up()
    assert causes(memory.search(snippet("flux"), 5)) == ["RuntimeError"]


LIKE = "FrobnicatorError: the flux of shard # is inverted"


@pytest.mark.parametrize(
    ("confirmed", "other", "asked", "agreed"),
    [
        (2, 0, LIKE, "KeyError"),
        (1, 0, LIKE, None),  # one is an anecdote
        (2, 1, LIKE, None),  # they do not agree
        (0, 0, LIKE, None),
        (2, 0, "FrobnicatorError: but of another kind, in another place", None),
        (2, 0, "train.py FAILED", None),
    ],
)
def test_people_who_agree_on_what_is_very_like_speak_for_a_cause(
    past, confirmed, other, asked, agreed
):
    for number in range(3):  # nobody has confirmed these
        past.add("ValueError", LIKE, fingerprint=str(number))
    for _ in range(confirmed):
        past.incidents.confirm(past.add("KeyError", LIKE), "mira")
    for _ in range(other):
        past.incidents.confirm(past.add("TypeError", LIKE), "mira")
    assert past.memory().nearest(snippet(asked), 5).agreed == agreed


def test_reports_of_a_launcher_that_all_failures_share_speak_for_nothing(past):
    report = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"
    for _ in range(3):
        past.incidents.confirm(past.add("KeyError", report), "mira")
    assert past.memory().nearest(snippet(report), 5).agreed is None


def test_vectors_of_another_embedder_are_made_anew(past):
    class Other(HashingEmbedder):
        name = "other-1"

        def embed(self, snippets):
            return super().embed(snippets)[:, ::-1].copy()

    id = past.add("KeyError")
    past.memory()
    assert id in past.incidents.vectors([id], HashingEmbedder.name)
    assert causes(past.memory(embedder=Other()).nearest(snippet(FAILURES["KeyError"]), 1)) == [
        "KeyError"
    ]
    kept = past.incidents.vectors([id], "other-1")[id]
    assert np.frombuffer(kept, "<f4").shape == (HashingEmbedder().embed([Snippet(("a",))]).size,)


def test_what_is_committed_late_is_taken_in_too(past, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("app.store.endings.time.time", lambda: now[0])
    past.add("KeyError")
    memory = past.memory()
    now[0] = 995.0  # its transaction began before and ended after
    past.add("ECCError")
    assert memory.catch_up() == 1
    assert memory.catch_up() == 0
    assert causes(memory.nearest(snippet(FAILURES["ECCError"]), 1)) == ["ECCError"]


def test_a_broken_index_is_begun_anew_and_filled(past):
    index = ListIndex()
    for cause in FAILURES:
        past.add(cause)
    memory = past.memory(index)
    index.fault = IndexBroken("Error deserializing")
    assert causes(memory.nearest(snippet(FAILURES["KeyError"]), 1)) == ["KeyError"]
    assert index.begun == 1
    memory.catch_up()
    assert len(index.held) == len(FAILURES)


def test_without_its_server_a_search_goes_on_with_words_and_says_so(past, monkeypatch):
    monkeypatch.setattr(whole, "_AGAIN_SECONDS", 0.05)
    index = ListIndex()
    past.add("KeyError")
    index.fault = IndexGone("refused")
    memory = past.memory(index)
    found = memory.nearest(snippet(FAILURES["KeyError"]), 1)
    assert (causes(found), found.note) == (["KeyError"], GONE)
    index.fault = None
    for _ in range(50):
        memory.catch_up()
        if not memory.nearest(snippet("KeyError"), 1).note:
            break
    assert len(index.held) == 1


def test_an_index_is_rebuilt_on_demand(past):
    index = ListIndex()
    for cause in FAILURES:
        past.add(cause)
    memory = past.memory(index)
    index.held["stranger"] = np.zeros(1)
    assert memory.rebuild() == len(FAILURES)
    assert "stranger" not in index.held
