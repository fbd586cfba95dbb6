"""Write large training logs of known make-up, the same for the same seed.

`normal`: metric lines of eight frameworks behind the usual prefixes, one line in about 160 that no
filter knows, a CUDA fault among timeouts at the end. `hard`: two lines in five are unknown to the
filters. `long`: lines of 1 MB, NUL runs, random bytes, broken UTF-8 between ordinary lines.
"""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

_CHUNK = 20_000


def megatron(r: random.Random, step: int) -> str:
    return (
        f"[default{step % 8}]: [2026-11-{step % 28 + 1:02} 03:{step % 60:02}:05.678901] iteration "
        f"{step:8}/  500000 | consumed samples: {step * 512:12} | elapsed time per iteration (ms): "
        f"{5000 + r.random() * 400:.1f} | throughput per GPU (TFLOP/s/GPU): {r.random() * 400:.1f} "
        f"| learning rate: 2.200000E-04 | global batch size:   512 | lm loss: {r.random():.6E} | "
        f"loss scale: 1.0 | grad norm: {r.random():.3f} | number of skipped iterations:   0 | "
        "number of nan iterations:   0 |"
    )


def deepspeed(r: random.Random, step: int) -> str:
    return (
        f"worker-{step % 64}: [2026-11-18 13:{step % 60:02}:09,900] [INFO] "
        f"[logging.py:96:log_dist] [Rank {step % 512}] step={step}, skipped=3, "
        f"lr=[{r.random():.6f}], mom=[[0.9, 0.95]]"
    )


def titan(r: random.Random, step: int) -> str:
    return (
        f"[rank{step % 256}]:[titan] 2026-02-03 08:{step % 60:02}:39,101 - root - INFO - step: "
        f"{step}  loss:  {r.random() * 8:.5f}  grad_norm: {r.random():.4f}  memory: "
        f"61.44GiB(77.66%)  tps: 6,{step % 1000:03}  tflops: {r.random() * 400:.2f}  mfu: 38.12%"
    )


def trainer(r: random.Random, step: int) -> str:
    return (
        f"{{'loss': {r.random() * 3:.4f}, 'grad_norm': {r.random() * 3:.12f}, "
        f"'learning_rate': {r.random() / 1000:.16e}, 'epoch': {step / 1000:.2f}}}"
    )


def bar(r: random.Random, step: int) -> str:
    done = step % 1000
    states = (
        f"Epoch 3:  {(done + k) // 10:2}%|{'#' * 9}| {done + k}/1000 [10:31<12:29, "
        f"{r.random() * 3:.2f}s/it, loss={r.random():.3f}]"
        for k in range(3)
    )
    return "\r".join(states)


def maxtext(r: random.Random, step: int) -> str:
    return (
        f"I1118 04:{step % 60:02}:37.248431 138304841739136 metric_logger.py:226] completed step: "
        f"{step}, seconds: {r.random() * 9:.3f}, TFLOP/s/device: {r.random() * 400:.3f}, "
        f"Tokens/s/device: 8709.739, total_weights: 196608, loss: {r.random() * 4:.3f}"
    )


def nccl(r: random.Random, step: int) -> str:
    return (
        f"node-{step % 64}:40321:{step % 90000} [{step % 8}] NCCL INFO Channel "
        f"{step % 16:02}/16 : {step % 8} {(step + 1) % 8} {(step + 2) % 8} 3 4 5 6 7"
    )


def mlperf(r: random.Random, step: int) -> str:
    return (
        f'{step % 512}: :::MLLOG {{"namespace": "", "time_ms": {1760000000344 + step}, '
        '"event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"train_loss": '
        f'{r.random():.4f}}}, "metadata": {{"file": "train.py", "lineno": 88, "step": {step}}}}}'
    )


def unknown(r: random.Random, step: int) -> str:
    return (
        f"[rank{step % 256}]: 2026-11-18 13:{step % 60:02}:09,900 | data.service | shard "
        f"{r.getrandbits(48):012x} of bucket-{step % 40} fetched by 10.0.{step % 250}.{step % 99}"
    )


ROUTINE: tuple[Callable[[random.Random, int], str], ...] = (
    megatron,
    deepspeed,
    titan,
    trainer,
    bar,
    maxtext,
    nccl,
    mlperf,
)


def _ending() -> Iterator[str]:
    for rank in range(512):
        if rank == 317:
            yield ("[rank317]: RuntimeError: CUDA error: an illegal memory access was encountered")
            continue
        yield (
            f"[rank{rank}]:[E1118 04:22:11.{rank:09} ProcessGroupNCCL.cpp:616] [Rank {rank}] "
            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8812, "
            "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 "
            "milliseconds before timing out."
        )


def _lines(r: random.Random, unknown_share: float) -> Iterator[str]:
    step = 0
    while True:
        step += 1
        if r.random() < unknown_share:
            yield unknown(r, step)
        else:
            yield ROUTINE[step % len(ROUTINE)](r, step)


def _long_lines(r: random.Random) -> Iterator[bytes]:
    lines = _lines(r, 0.01)
    while True:
        for _ in range(500):
            yield next(lines).encode()
        yield b"x" * 1_000_000
        yield b"\0" * 1_000_000
        yield r.randbytes(200_000).replace(b"\n", b" ")
        yield b"\xff\xfe broken \xc3\x28 utf-8 " * 2000


def write(path: Path, variant: str, size: int, seed: int = 1) -> None:
    """Write one variant of about the given size in bytes."""
    r = random.Random(f"{variant}{seed}")
    share = {"normal": 0.006, "hard": 0.4, "long": 0.01}[variant]
    source = _long_lines(r) if variant == "long" else (s.encode() for s in _lines(r, share))
    ending = b"".join(line.encode() + b"\n" for line in _ending())
    written = len(ending)
    with path.open("wb") as out:
        chunk: list[bytes] = []
        for line in source:
            chunk.append(line)
            written += len(line) + 1
            if len(chunk) >= _CHUNK or written >= size:
                out.write(b"\n".join(chunk) + b"\n")
                chunk.clear()
            if written >= size:
                break
        out.write(ending)
