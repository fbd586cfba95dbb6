"""Epochs: as heads, as counts, and steps that begin anew in each."""

from app.model import Point
from tests.compress.series_reading import read


def of_lines(*lines: str) -> tuple[Point, ...]:
    return read("\n".join(lines))


def test_steps_go_on_over_epochs_where_they_begin_anew():
    found = of_lines(
        "Epoch 0: 100%|██████████| 90/90 [01:30<00:00, 1.00s/it, loss=2.0]",
        "Epoch 1:  11%|█         | 10/90 [00:10<01:20, 1.00s/it, loss=1.9]",
    )
    assert [(p.step, p.total_steps) for p in found] == [(90, 90), (100, 180)]


def test_steps_that_count_over_epochs_stay_as_printed():
    found = of_lines("Epoch 0, step 90/900 loss: 2.0", "Epoch 1, step 91/900 loss: 1.9")
    assert [(p.step, p.total_steps) for p in found] == [(90, 900), (91, 900)]


def test_steps_of_an_epoch_are_counted_up_to_the_last_epoch_that_is_named():
    found = of_lines(
        "Epoch 1/3",
        "90/90 [==============================] - 9s 0.1s/step - loss: 2.0",
        "Epoch 2/3",
        "90/90 [==============================] - 9s 0.1s/step - loss: 1.5",
        "Epoch 3/3",
        "90/90 [==============================] - 9s 0.1s/step - loss: 1.2",
    )
    assert [(p.step, p.total_steps, p.counts) for p in found][1:] == [
        (180, 270, "all"),
        (270, 270, "all"),
    ]


def test_of_epochs_whose_number_is_unknown_none_is_the_last():
    found = of_lines("epoch [1][900/900] loss: 2.0", "epoch [2][900/900] loss: 1.0")
    assert [p.counts for p in found] == ["some epoch", "some epoch"]


def test_other_epochs_follow_one_that_is_not_the_last():
    assert [p.counts for p in of_lines("epoch [1/5][900/900] loss: 2.0")] == ["epoch"]
    assert [p.counts for p in of_lines("epoch [4/5][900/900] loss: 2.0")] == ["some epoch"]
    assert [p.counts for p in of_lines("epoch [5/5][900/900] loss: 2.0")] == [""]


def test_a_count_that_rises_with_the_epochs_is_of_all_of_them():
    found = of_lines("epoch [1][900/2700] loss: 2.0", "epoch [3][2700/2700] loss: 1.0")
    assert [(p.step, p.total_steps, p.counts) for p in found][1] == (2700, 2700, "")


def test_the_heads_of_blocks_count_within_their_epoch():
    def block(epoch, batch):
        return [f"[epoch={epoch}][batch={batch}/90]:", "     Train loss/train/total: 2.3101"]

    found = of_lines(*block(0, 89), *block(0, 90), *block(1, 1))
    assert [(p.step, p.total_steps, p.counts) for p in found] == [
        (89, 90, "some epoch"),
        (90, 90, "some epoch"),
        (91, 180, "some epoch"),
    ]


def test_an_epoch_that_was_announced_as_the_last_is_the_end():
    found = of_lines("num_epochs: 3", *(f"[epoch {e}] loss={3 - e / 2} acc=0.4" for e in (1, 2, 3)))
    assert [(p.step, p.total_steps) for p in found] == [(1, None), (2, None), (3, 3)]


def test_a_line_without_a_bar_counts_within_the_epoch_that_a_head_names():
    lines = ["Epoch 1/2", "90/90 - 9s - loss: 2.0", "Epoch 2/2", "90/90 - 9s - loss: 1.5"]
    found = of_lines(*lines)
    assert [(p.step, p.total_steps, p.counts) for p in found] == [
        (90, 90, "epoch"),
        (180, 180, "all"),
    ]


def test_an_epoch_told_with_its_duration_heads_the_losses_below():
    def epoch(number, loss):
        head = f"Epoch: {number:02d} | Epoch Time: 1m 24s"
        return [head, f"\tTrain Loss: {loss}", f"\t Val. Loss: {loss}", ""]

    found = [p for p in of_lines(*epoch(1, 0.79), *epoch(2, 0.74)) if "eval" not in p.series]
    assert [(p.step, p.loss) for p in found] == [(1, 0.79), (2, 0.74)]


def test_a_score_of_an_epoch_counts_it_though_no_loss_is_told():
    told = "cost 37s, Epoch: [{}/100],Val_PSNR: 33.1"
    found = of_lines(told.format(99), told.format(100))
    assert [(p.step, p.total_steps, p.counts) for p in found] == [
        (99, 100, "epochs"),
        (100, 100, "epochs"),
    ]
    assert of_lines("Epoch: [100/100] is next", "Epoch 100/100, batch 3, acc: 0.4") == ()


def test_a_pace_of_the_validation_is_no_step_of_training():
    ran = "Epoch({}) [3][{}/625]    eta: 0:00:10  time: 0.0811  data_time: 0.0021"
    (held,) = of_lines(ran.format("val", 50))
    assert held.series.startswith("eval")
    (trained,) = of_lines(ran.format("train", 50))
    assert not trained.series.startswith("eval")


def test_an_epoch_may_say_what_it_is_for():
    step = "Epoch(train) [{}][{}/600]  lr: 2.0e-04  grad_norm: 4.9  loss: 0.41"
    first, last = of_lines(step.format(10, 600), step.format(11, 20))
    assert (last.step, last.counts) == (620, "some epoch")
    assert first.counts
