"""What is known of an endpoint, where several questions learn of it at once."""

from app.reason.ladder import Ladder, Style


def test_a_question_that_fails_takes_back_what_was_tried_in_vain():
    ladder = Ladder()
    began = ladder.style
    assert ladder.lower(began)
    assert ladder.lower(ladder.style)
    ladder.back_to(began)
    assert ladder.style == began


def test_a_question_that_fails_leaves_what_another_has_learnt_meanwhile():
    ladder = Ladder()
    began = ladder.style
    assert ladder.adapt(began, "temperature", "not supported")
    learnt = ladder.style
    ladder.bear(learnt)
    ladder.back_to(began)
    assert ladder.style == learnt == Style(temperature=False)


def test_an_endpoint_that_answers_once_is_known_for_good():
    ladder = Ladder()
    began = ladder.style
    ladder.bear(began)
    ladder.ignores_many()
    ladder.back_to(began)
    assert ladder.style == Style(many=False)


def test_a_rung_that_has_borne_is_kept_whatever_else_changes():
    ladder = Ladder()
    ladder.bear(ladder.style)
    ladder.ignores_many()
    assert ladder.adapt(ladder.style, "max_tokens", "")
    assert not ladder.lower(ladder.style)
