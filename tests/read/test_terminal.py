import pytest

from app.read.terminal import clean

BAR = "100%|####| 10/10 [00:01<00:00, 9.9it/s]"


def test_an_ordinary_line_is_its_only_piece() -> None:
    assert clean("step 10 | loss 2.31") == ("step 10 | loss 2.31",)


@pytest.mark.parametrize("raw", ["", "   ", "\t", "\r", "\x00\x00", "\x1b[0m", "\x1b[2K\r   \r"])
def test_a_line_that_shows_nothing_has_no_piece(raw: str) -> None:
    assert clean(raw) == ()


def test_indentation_and_tabs_stay() -> None:
    assert clean('  File "/srv/fit.py", line 7\tin <module>\r') == (
        '  File "/srv/fit.py", line 7\tin <module>',
    )


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[36m(Trainer pid=77)\x1b[0m loss 2.1", "(Trainer pid=77) loss 2.1"),
        ("\x1b[1;38;5;120mdone\x1b[22;39m", "done"),
        ("\x1b]0;node-4\x07started", "started"),
        (
            "see \x1b]8;;https://runs.example/7\x1b\\run 7\x1b]8;;\x1b\\ for more",
            "see run 7 for more",
        ),
        ("\x1b(Bready\x1b[m\x1b[K", "ready"),
        ("name\x1b[12Cvalue", "name value"),
        ("cut off\x1b[3", "cut off"),
        ("bare\x1b", "bare"),
        ("\x1b]no end of the title, so it is shown", "no end of the title, so it is shown"),
        ("a\x00\x00b", "ab"),
        ("\x00" * 5000 + "tail", "tail"),
    ],
)
def test_codes_and_nuls_do_not_show(raw: str, shown: str) -> None:
    assert clean(raw) == (shown,)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("building ... -\b\\\b|\bdone", "building ... done"),
        ("N\bNA\bAM\bME\bE", "NAME"),
        ("\b\b\bstart", "start"),
        ("left\b", "left"),
    ],
)
def test_what_is_written_over_is_gone(raw: str, shown: str) -> None:
    assert clean(raw) == (shown,)


def test_only_the_last_state_of_a_bar_stays() -> None:
    states = [f"Epoch 2: {n * 10:3}%|##  | {n}/10 [00:0{n}<00:01, 2.6it/s]" for n in range(1, 10)]

    assert clean("\r".join(states) + "\r") == (states[-1],)


def test_two_bars_on_one_line_keep_one_state_each() -> None:
    raw = "train:  10%|# | 1/10 [00:01<00:09]\rvalid:  50%|# | 1/2 [00:01<00:01]\r" * 3

    assert clean(raw) == (
        "train:  10%|# | 1/10 [00:01<00:09]",
        "valid:  50%|# | 1/2 [00:01<00:01]",
    )


def test_what_was_printed_between_two_states_stays_in_order() -> None:
    raw = (
        "  1%| | 1/99 [00:01<01:38]\rValueError: shape mismatch\r"
        "  2%| | 2/99 [00:02<01:37]\rretrying"
    )

    assert clean(raw) == ("ValueError: shape mismatch", "  2%| | 2/99 [00:02<01:37]", "retrying")


@pytest.mark.parametrize(
    "states",
    [
        ["10/60 [====>.........] - ETA: 3s", "60/60 [==============] - 4s"],
        ["Downloading:  34%", "Downloading:  99%"],
        ["copied 3/20 MB", "copied 19/20 MB"],
        ["1270it [00:41, 30.9it/s]", "1290it [00:42, 30.9it/s]"],
    ],
)
def test_other_kinds_of_bars_collapse_too(states: list[str]) -> None:
    assert clean("\r".join(states)) == (states[-1],)


def test_a_bar_that_is_redrawn_by_backspaces_or_cursor_moves_collapses() -> None:
    first, last = "10/60 [====>.........] - loss: 2.1", "11/60 [====>.........] - loss: 2.0"

    assert clean(first + "\b" * 40 + last) == (last,)
    assert clean(f"{first}\x1b[2K\x1b[1G{last}\x1b[A") == (last,)


def test_a_text_glued_to_the_tail_of_a_bar_is_a_piece_of_its_own() -> None:
    raw = BAR + "Traceback (most recent call last):"

    assert clean(raw) == (BAR, "Traceback (most recent call last):")


def test_bars_glued_to_each_other_collapse() -> None:
    raw = (
        "  0%| | 0/2 [00:00<?, ?it/s] 50%|# | 1/2 [00:01<00:01, 1.0it/s]"
        "100%|##| 2/2 [00:02<00:00, 1.0it/s]RuntimeError: stopped"
    )

    assert clean(raw) == ("100%|##| 2/2 [00:02<00:00, 1.0it/s]", "RuntimeError: stopped")


@pytest.mark.parametrize("tail", [", loss=2.31", " | lr: 1e-4", " val loss: 2.3"])
def test_metrics_behind_a_bar_belong_to_it(tail: str) -> None:
    assert clean(BAR + tail) == (BAR + tail,)


def test_brackets_in_the_metrics_of_a_bar_do_not_end_it() -> None:
    bar = " 40%|####  | 4/10 [00:01<00:02, 2.6it/s, loss=[2.1, 0.4]]"

    assert clean(bar + "KeyError: 'labels'") == (bar, "KeyError: 'labels'")


def test_a_message_with_a_share_is_not_taken_for_a_bar_when_it_stands_alone() -> None:
    assert clean("warning: /scratch is 97% full\r") == ("warning: /scratch is 97% full",)


def test_an_escape_that_was_spelt_out_is_a_colour_too():
    assert clean("#033[34mKeyError: 'text'#033[0m") == ("KeyError: 'text'",)
