"""Votes are counted by the lines that a filter takes away."""

from app.reason.ballot import elect
from app.reason.log_agent import Known, judged
from tests.reason.test_gates import EVIDENCE, SAMPLE, VOLUME, a_filter

SPELLINGS = [r"weaver \d+ threads", r"weaver [0-9]+ threads \d+ at", r"^weaver .* cm$"]


def test_answers_that_spell_one_thought_in_three_ways_agree():
    elected, _ = elect([[a_filter(match=match)] for match in SPELLINGS], SAMPLE, 5)
    assert [found.votes for found in elected] == [3]


def test_the_most_specific_spelling_goes_first():
    elected, _ = elect([[a_filter(match=match)] for match in SPELLINGS], SAMPLE, 5)
    assert elected[0].filters[0].match == SPELLINGS[1]


def test_two_answers_of_five_are_no_majority():
    elected, refused = elect([[a_filter()], [a_filter()], [], [], []], SAMPLE, 5)
    assert not elected
    assert {one.why for one in refused} == {"2 of 5 answers take these lines away"}


def test_answers_that_never_came_do_not_count_as_votes():
    elected, _ = elect([[a_filter()], [a_filter()]], SAMPLE, 5)
    assert not elected


def test_an_answer_that_says_a_thing_twice_has_one_vote():
    elected, _ = elect([[a_filter(), a_filter(name="again")]] * 2, SAMPLE, 5)
    assert not elected


def test_a_regex_that_cannot_run_spoils_no_vote_of_the_others():
    elected, refused = elect([[a_filter(match="weaver ("), a_filter()]] * 3, SAMPLE, 5)
    assert [found.filters[0].match for found in elected] == [a_filter().match]
    assert all("linear time" in one.why for one in refused)


def test_where_one_spelling_fails_its_gates_the_next_one_is_tried():
    bad = a_filter(match=r"weaver \d+ threads \d+ at", hits=("weaver three",))
    found = judged([[bad], [a_filter()], [a_filter()]], VOLUME, EVIDENCE, 5)
    assert [one.match for one in found.proposals] == [a_filter().match]
    assert [one.why for one in found.refused] == ["it does not meet its own example: weaver three"]


def test_what_is_taken_away_already_needs_no_second_filter():
    both = a_filter(match=r"weaver \d+ threads|bobbin \d+ of", name="both", claimed_share=0.7)
    found = judged([[both, a_filter()]] * 3, VOLUME, EVIDENCE, 5)
    assert [one.name for one in found.proposals] == ["both"]


def test_what_a_person_switched_off_does_not_come_back_in_other_words():
    found = judged([[a_filter()]] * 3, VOLUME, EVIDENCE, 5, Known(off=(SPELLINGS[1],)))
    assert not found.proposals
    assert "a person switched off" in found.refused[0].why


def test_what_a_filter_of_the_type_does_already_is_not_written_again():
    found = judged([[a_filter()]] * 3, VOLUME, EVIDENCE, 5, Known(active=(SPELLINGS[1],)))
    assert not found.proposals
    assert found.refused[0].why == "other filters take its lines away"


def test_filters_of_one_name_are_told_apart():
    other = a_filter(match="bobbin [0-9]+ of", hits=("bobbin 3 of 90 wound",))
    found = judged([[a_filter(), other]] * 3, VOLUME, EVIDENCE, 5)
    assert [one.name for one in found.proposals] == ["weaver_ticks", "weaver_ticks_2"]
