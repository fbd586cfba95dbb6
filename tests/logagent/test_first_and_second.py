"""Three trainers that nobody knows: a first job over its budget, a second that asks no model."""

import re
from pathlib import Path

import pytest

from app.reason.forms import FilterReply
from app.reason.log_agent import judged
from app.work.evidence import evidence_of_rules, evidence_of_stories
from tests.logagent.first_and_second import BUDGET, ROOT, both, poison
from tests.logagent.formats import FORMATS
from tests.own_rules import COMPILED


@pytest.fixture(scope="module", params=[True, False], ids=["named", "recognised"])
def named(request):
    return request.param


@pytest.fixture(scope="module", params=FORMATS, ids=[form.name for form in FORMATS])
def form(request):
    return request.param


@pytest.fixture(scope="module")
def shown(form, named, tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("cluster")
    return both(form, folder, 600_000, COMPILED, named=named)


def test_the_first_log_is_far_over_its_budget(shown):
    assert shown.before.needed_tokens > 10 * BUDGET


def test_with_the_filters_all_that_is_left_fits_with_every_line_of_evidence(form, shown):
    for read in (shown.after, shown.second):
        assert read.needed_tokens <= BUDGET
        assert read.digest_tokens <= BUDGET
        assert not read.missing
        assert read.cause == form.cause


def test_the_second_job_asks_no_model(shown):
    assert shown.calls == 1
    assert shown.later_calls == 0


def test_of_what_the_model_wrote_the_good_is_kept_and_no_poison(form, shown):
    assert shown.matches == {match for _, match, _, _ in form.filters}
    assert shown.report.refused >= 2


@pytest.fixture(scope="module")
def evidence():
    stories = evidence_of_stories(ROOT / "fixtures")
    return [*evidence_of_rules(COMPILED.rulebook), *stories]


@pytest.mark.parametrize("number", range(5))
def test_each_poison_is_refused_though_all_answers_swear_by_it(form, shown, evidence, number):
    one = FilterReply.model_validate(poison(form)[number])
    found = judged([[one]] * 5, shown.before.seen.volume, evidence, 5)
    assert not found.proposals
    (refused,) = found.refused
    wanted = {
        "hides_the_failure": "hides evidence",
        "hides_a_cuda_error": "hides evidence",
        "hides_a_device_fault": "hides evidence",
        "meets_all": "kinds of lines|literal characters",
        "meets_nothing": "meets no line",
    }
    assert re.search(wanted[one.name], refused.why)
