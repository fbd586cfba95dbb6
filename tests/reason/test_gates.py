"""What may not become a filter, one poison after the other."""

import pytest

from app.reason.ballot import Sample
from app.reason.forms import FilterReply
from app.reason.gates import Evidence, Trial, refusal
from app.rulebook.pattern import PatternError
from app.written import Kind, Volume

CUDA = "RuntimeError: CUDA error: an illegal memory access was encountered"
EVIDENCE = (
    Evidence(CUDA, "fixtures/CUDAError/illegal_access"),
    Evidence("weaver 3 spoke for the last time", "confirmed in_1"),
)
TICKS = tuple(f"weaver {n} threads {n * 7} at {n}.5 cm" for n in range(8))
VOLUME = Volume(
    tokens=30_000,
    lines=2_000,
    kept=2_000,
    kinds=(
        Kind("weaver # threads # at # cm", 1_000, TICKS),
        Kind("bobbin # of # wound", 400, tuple(f"bobbin {n} of 90 wound" for n in range(8))),
        Kind("yarn is blue", 300, ("yarn is blue",)),
        Kind("yarn is red", 290, ("yarn is red",)),
        Kind("yarn is green", 10, ("yarn is green",)),
    ),
)
SAMPLE = Sample(VOLUME)


def a_filter(**changed):
    told = {
        "name": "weaver_ticks",
        "title": "What the weaver does",
        "why": "It says so at every step.",
        "match": r"weaver \d+ threads",
        "hits": ("weaver 3 threads 21 at 3.5 cm",),
        "misses": ("weaver 3 fell asleep",),
        "claimed_share": 0.5,
    }
    return FilterReply.model_construct(**{**told, **changed})


def refused(**changed):
    one = a_filter(**changed)
    try:
        meets = SAMPLE.meets(one.match)
    except PatternError:
        meets = frozenset()
    return refusal(Trial(one, meets, SAMPLE, EVIDENCE))


def test_a_good_filter_passes():
    assert refused() is None


@pytest.mark.parametrize("match", [".*", ".+", r"\S+ \d+", r"^.{3,}$", "[a-z ]+"])
def test_what_meets_anything_is_refused(match):
    assert refused(match=match)


@pytest.mark.parametrize(
    "match", ["illegal memory access", r"\bCUDA e", "encountered$", "^Runtime"]
)
def test_what_hides_the_cuda_error_is_refused(match):
    why = refused(match=rf"weaver \d+ threads|{match}")
    assert why == f"it hides evidence (fixtures/CUDAError/illegal_access): {CUDA}"


def test_what_hides_a_line_of_a_confirmed_incident_is_refused():
    assert "confirmed in_1" in refused(match=r"weaver \d+ (?:threads|spoke)")


@pytest.mark.parametrize(
    "match",
    [
        r"(weaver) \d+ \1",
        r"(?=weaver \d+ threads)weaver",
        r"(?:(?:weaver \d{1,900}){1,900}){1,900}",
    ],
)
def test_what_does_not_run_in_linear_time_is_refused(match):
    assert refused(match=match).startswith("it does not run in linear time")


@pytest.mark.parametrize("match", ["weaver (", "weaver [", "weaver **", ""])
def test_what_is_no_regex_is_refused(match):
    assert refused(match=match).startswith("it does not run in linear time")


def test_what_meets_no_line_is_refused():
    assert refused(match="loom of another hall").startswith("it meets no line")


def test_what_meets_most_kinds_of_lines_is_refused():
    assert "3 of 5 kinds" not in (refused(match=r"weaver \d+ threads|bobbin") or "")
    why = refused(match=r"weaver \d+ threads|bobbin \d+|yarn is (?:blue|red)", claimed_share=1)
    assert why == "it meets 4 of 5 kinds of lines"


def test_kinds_that_differ_in_a_name_are_one():
    kinds = [Kind(f"weaver {name} threads # at # cm", 9, (f"weaver {name} threads 3 at 3 cm",))
             for name in ("ann", "bob", "cid", "dan", "eve")]  # fmt: skip
    assert set(Sample(Volume(9, 9, 9, tuple(kinds))).kinds) == {0}


def test_what_fails_its_own_example_is_refused():
    assert "its own example" in refused(hits=("weaver three threads",))


def test_what_meets_its_own_counterexample_is_refused():
    assert "its own counter-example" in refused(misses=("weaver 3 threads a broken needle",))


def test_what_takes_more_than_it_claims_is_refused():
    assert refused(claimed_share=0.1) == "it claims 10.0% of the lines and takes 50.0%"


def test_what_takes_hardly_anything_is_refused():
    assert "less than 1%" in refused(match="yarn is green")


@pytest.mark.parametrize("match", [r"weav\d*", r"weaver \d+ threads[^\n]" + "(?:ab|c)?" * 400])
def test_what_costs_more_than_it_saves_is_refused(match):
    assert refused(match=match)


def test_a_line_with_a_word_of_trouble_is_not_what_a_filter_takes():
    lines = Sample(
        Volume(10, 2, 2, (Kind("", 2, ("weaver 3 threads", "weaver 4 threads: failed")),))
    )
    assert lines.meets(r"weaver \d+ threads") == {0}
