"""`firstfault fake-model`: a model that says what a script tells it to, for trials and tests."""

from pathlib import Path
from typing import Annotated

import typer


def fake_model(
    script: Annotated[Path, typer.Option(help="What it answers; a YAML file.")],
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 0,
) -> None:
    """Serve a scripted language model, to try things without one.

    A script holds `answers`, tried from the top: `when` (`purpose`, `holds`) says for which
    questions, `times` how often, and `replies`, `status`, `hang`, `refusal`, `body` or `ends` what
    comes; `within: reasoning_content` (or `parts`, `arguments`) puts the words where some servers
    do. `refuses: {json_schema: 400}` stands for an endpoint that can do less.
    """
    from app.reason.fake import FakeModel
    from app.reason.script import load

    fake = FakeModel(load(script), port)
    where = f"FIRSTFAULT_MODEL=fake FIRSTFAULT_MODEL_BASE_URL={fake.url}"
    print(f"a fake model listens; set {where}", flush=True)
    fake.serve()
