"""`firstfault senders …`: write out what tells the service that a job has ended."""

import io
from pathlib import Path
from typing import Annotated

import typer

import app.senders
from app.errors import UsageError

senders = typer.Typer(help="Have schedulers report the end of jobs.")

_FOLDER = Path(app.senders.__file__).parent
_START = "import app.senders.main\napp.senders.main.run()\n"


@senders.command()
def slurm(
    program: Annotated[
        Path, typer.Argument(help="Where to write it, e.g. /etc/slurm/firstfault-sender.")
    ],
) -> None:
    """Write the program for `JobCompLoc` or `EpilogSlurmctld`, and its configuration beside it.

    It needs Python 3.9 and nothing else, and reports jobs of other schedulers too.
    """
    import zipapp  # other commands need no archives

    beside = program.with_suffix(".ini")
    try:
        zipapp.create_archive(io.BytesIO(_packed()), program, "/usr/bin/env python3")
        program.chmod(0o755)
        if is_new := not beside.exists():
            beside.write_text((_FOLDER / "slurm.ini").read_text())
    except OSError as error:
        raise UsageError(f"{program}: cannot be written: {error.strerror or error}") from error
    print(f"{program}: written")
    print(f"{beside}: {'written; say there where the service is' if is_new else 'left as it was'}")


@senders.command()
def kubernetes() -> None:
    """Print the manifests of a service that watches the Jobs of a cluster."""
    print((_FOLDER / "kubernetes.yaml").read_text(), end="")


def _packed() -> bytes:
    """Pack the modules of the sender under the names by which they know each other."""
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__main__.py", _START)
        archive.writestr("app/__init__.py", "")
        for module in sorted(_FOLDER.glob("*.py")):
            archive.write(module, f"app/senders/{module.name}")
    return packed.getvalue()
