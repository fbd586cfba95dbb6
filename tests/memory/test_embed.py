import hashlib

import numpy as np
import pytest

from app.errors import UsageError
from app.incident import Snippet
from app.memory.embed import DIMENSIONS, HashingEmbedder, embedder
from tests.memory.past import FAILURES


def embedded(*texts):
    return HashingEmbedder().embed([Snippet(tuple(text.split("\n"))) for text in texts])


def test_every_machine_makes_the_same_vector():
    row = embedded("KeyError: 'labels'\nChildFailedError: train.py FAILED")[0]
    told = hashlib.sha256(row.astype("<f4").tobytes()).hexdigest()
    assert told[:16] == "2569859c6ec632ca"


def test_vectors_have_the_length_one_and_a_blank_text_has_none():
    rows = embedded(*FAILURES.values(), "")
    assert rows.shape == (len(FAILURES) + 1, DIMENSIONS)
    assert np.allclose(np.linalg.norm(rows[:-1], axis=1), 1)
    assert not rows[-1].any()


def test_like_words_lie_closer_than_others():
    one, like, other = embedded(
        "CUDA out of memory. Tried to allocate # GiB",
        "CUDA error: out of memory while it allocates",
        "No such file or directory",
    )
    assert one @ like > 0.4 > one @ other


def test_the_first_line_weighs_most():
    one, same_root, same_echo = embedded(
        "KeyError: 'labels'\nwatchdog timeout",
        "KeyError: 'labels'\nconnection reset by peer",
        "ImportError: no flash_attn\nwatchdog timeout",
    )
    assert one @ same_root > 2 * (one @ same_echo)


@pytest.mark.parametrize("text", ["\udc80 broken", "训练失败 内存不足", "a", "🔥" * 500])
def test_any_text_can_be_embedded(text):
    assert np.isfinite(embedded(text)).all()


def test_a_setting_that_is_no_embedder_is_refused_by_its_name(tmp_path):
    with pytest.raises(UsageError, match="FIRSTFAULT_EMBEDDER"):
        embedder("word2vec")


def test_minilm_embeds_offline_and_finds_like_words(minilm):
    snippets = [Snippet((text,)) for text in ("CUDA ran out of memory", *FAILURES.values())]
    rows = minilm.embed(snippets)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    nearest = list(FAILURES)[int((rows[1:] @ rows[0]).argmax())]
    assert nearest == "OutOfMemoryError"


def test_a_folder_that_holds_no_model_is_refused(minilm, tmp_path):
    with pytest.raises(UsageError, match="holds no model"):
        embedder(str(tmp_path))
