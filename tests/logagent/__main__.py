"""Show the log agent on trainers that nobody knows: `python -m tests.logagent [--size MB]`.

For each: what the lines that are left would take, in tokens, before any filter and after those
that were written; whether all evidence is in the digest; and what the next job of the type asks.
"""

import argparse
import tempfile
from pathlib import Path

from app.rulebook.compiled import Compiled
from app.rulebook.load import load
from tests.logagent.first_and_second import BUDGET, ROOT, Read, both
from tests.logagent.formats import FORMATS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=200, help="MB of each log")
    parser.add_argument("--folder", type=Path, help="where logs are written")
    args = parser.parse_args()
    compiled = Compiled(load(ROOT / "rules"))
    for form in FORMATS:
        for named in (True, False):
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                shown = both(form, Path(folder), int(args.size * 2**20), compiled, named=named)
            told = "type told" if named else "type recognised"
            print(f"\n{form.name}, {shown.bytes / 1e6:.0f} MB, {told}; budget {BUDGET} tokens")
            _row("first job", shown.before)
            _row("the same, again", shown.after)
            _row("second job", shown.second)
            report = shown.report
            print(f"  filters kept: {', '.join(report.kept)}; {report.refused} refused")
            for why in report.reasons:
                print(f"    {why}")
            print(f"  calls to the model: {shown.calls}, for later jobs {shown.later_calls}")


def _row(name: str, read: Read) -> None:
    evidence = "all evidence kept" if not read.missing else f"LACKS LINES {read.missing}"
    print(
        f"  {name:16} {read.needed_tokens:>11,} tokens left, digest {read.digest_tokens:,}; "
        f"{read.cause}; {evidence}; {read.cpu_seconds:.1f} s of CPU"
    )


if __name__ == "__main__":
    main()
