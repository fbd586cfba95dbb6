"""Which code an exception is about: the innermost frames, without those that only hand a call on.

`model(x)` goes through three frames of torch before it reaches the model, and a call that does not
fit its arguments fails in the last of them. So the code at fault is the one behind such frames. Nor
is a loss that refuses what it is given at fault, but who gave it that.
"""

import re
from collections.abc import Sequence

_HANDS_ON = re.compile(
    r"/torch/(?:nn/modules/(?:module|loss)|nn/functional|nn/parallel/\w+|_tensor|_utils"
    r"|utils/(?:_contextlib|checkpoint)"
    r"|_(?:dynamo|inductor|functorch|subclasses|prims|refs|decomp|higher_order_ops)/[\w/]+|fx/[\w/]+"
    r"|_compile|_ops|_meta_registrations|autograd/\w+|distributed/(?:fsdp|elastic)/[\w/]+"
    r"|utils/(?:data/[\w/]+|_stats|_python_dispatch))\.py:"
    r"|/deepspeed/(?:runtime/engine|utils/nvtx)\.py:|/accelerate/utils/operations\.py:"
    r"|/peft/peft_model\.py:|/(?:multiprocess|multiprocessing|concurrent|ray|click|fire|hydra)/"
    r"|/datasets/(?:arrow_dataset|iterable_dataset|dataset_dict|fingerprint|utils/py_utils)\.py:"
    r"|/(?:lightning|pytorch_lightning)/(?:pytorch/)?(?:trainer|strategies|loops|core|plugins)/"
    r"|/trainer\.py:\d+:(?:compute_loss|training_step|prediction_step|(?:_?inner_)+training_loop"
    r"|train|evaluat\w+|get_batch_samples)$"
)


def own_frames(frames: Sequence[str]) -> tuple[str, ...]:
    """Give the frames `path:line:function`, outermost first, that do more than hand a call on."""
    return tuple(frame for frame in frames if not _HANDS_ON.search(frame))
