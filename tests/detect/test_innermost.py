"""Which code an exception is about, behind the frames that only hand a call on."""

import pytest

from app.detect.innermost import own_frames

LIBS = "/opt/tern/lib/python3.11/site-packages"
SCRIPT = "/opt/tern/train.py:71:main"
TUNER = f"{LIBS}/tuner/loop.py:12:fit"
TORCH = f"{LIBS}/torch/nn/modules/module.py"


@pytest.mark.parametrize(
    "carrier",
    [
        f"{TORCH}:1739:_wrapped_call_impl",
        f"{LIBS}/torch/nn/modules/loss.py:1295:forward",
        f"{LIBS}/torch/nn/functional.py:3494:cross_entropy",
        f"{LIBS}/torch/nn/parallel/distributed.py:1637:forward",
        f"{LIBS}/torch/utils/data/_utils/fetch.py:52:fetch",
        f"{LIBS}/torch/_inductor/compile_fx.py:1886:compile_fx",
        f"{LIBS}/torch/fx/interpreter.py:230:run_node",
        f"{LIBS}/torch/utils/_stats.py:20:wrapper",
        f"{LIBS}/deepspeed/runtime/engine.py:2030:forward",
        f"{LIBS}/datasets/arrow_dataset.py:3400:apply_function",
        f"{LIBS}/transformers/trainer.py:3700:compute_loss",
        f"{LIBS}/lightning/pytorch/trainer/call.py:48:_call_and_handle_interrupt",
    ],
)
def test_frames_that_hand_a_call_on_are_skipped(carrier: str) -> None:
    assert own_frames((SCRIPT, carrier)) == (SCRIPT,)
    assert own_frames((SCRIPT, carrier, TUNER)) == (SCRIPT, TUNER)


@pytest.mark.parametrize(
    "worker",
    [
        "/opt/tern/trainer.py:80:build",
        f"{LIBS}/transformers/trainer.py:4252:create_accelerator_and_postprocess",
        f"{LIBS}/torch/nn/modules/linear.py:125:forward",
        f"{LIBS}/datasets/builder.py:1871:_prepare_split_single",
    ],
)
def test_frames_that_do_the_work_stay(worker: str) -> None:
    assert own_frames((SCRIPT, worker)) == (SCRIPT, worker)
