"""Programs of one shell script that need one another, and those that are tried again."""

from io import BytesIO

import pytest

from app import pipeline
from tests.own_rules import COMPILED

PREPARE = "+ python tools/pack.py --input /d/raw.jsonl --output-prefix /d/packed/law"
TRAIN = "+ torchrun --nproc-per-node 8 finetune.py --data /d/packed/law_text"
DIED = """Traceback (most recent call last):
  File "/srv/lm/tools/pack.py", line 31, in encode
    text = row[key]
KeyError: 'text'"""
LACKS = """Traceback (most recent call last):
  File "/srv/lm/finetune.py", line 91, in <module>
    data = open_index(path)
FileNotFoundError: [Errno 2] No such file or directory: '/d/packed/law_text.idx'"""
STEPS = "\n".join(f"step {n}/90 | loss 2.{n} | 410 ms" for n in range(10, 40))


def causes(*parts: str) -> list[str]:
    """Give the causes of the attempts before, and that of the last one."""
    done = pipeline.diagnose([BytesIO("\n".join(parts).encode())], COMPILED)
    return [*(a.cause for a in done.attempts), done.verdict.primary.cause]


@pytest.mark.parametrize(
    ("prepare", "train"),
    [
        (PREPARE, TRAIN),
        (
            "+ python3 convert_hf.py --model m --save-dir=/d/packed",
            "+ python3 -m torch.distributed.run train.py --data /d/packed/law_text",
        ),
        (
            "++ srun -n 1 python -m lm.pack -o /d/packed/law",
            "++ accelerate launch sft.py --data /d/packed/law_text",
        ),
    ],
)
def test_what_the_first_program_died_of_is_why_the_second_lacks_its_file(
    prepare: str, train: str
) -> None:
    assert causes(prepare, DIED, train, LACKS) == ["KeyError"]


def test_a_program_that_is_started_again_is_another_attempt() -> None:
    found = causes(TRAIN + " --out /d/packed/law_text", DIED, TRAIN, LACKS)
    assert found == ["KeyError", "FileNotFoundError"]


def test_what_the_second_is_not_given_does_not_bind_it_to_the_first() -> None:
    prepare = PREPARE.replace("packed/law", "stats/words")
    assert causes(prepare, DIED, TRAIN, LACKS) == ["KeyError", "FileNotFoundError"]


def test_a_second_program_that_trained_had_what_it_needs() -> None:
    found = causes(PREPARE, DIED, TRAIN, STEPS, LACKS)
    assert found == ["KeyError", "FileNotFoundError"]
