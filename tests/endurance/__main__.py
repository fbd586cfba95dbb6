"""Trials of the service as a whole; each prints figures and exits with 1 where something is lost.

python -m tests.endurance kill --rounds 50              SQLite, one process
python -m tests.endurance kill --rounds 50 --shared     PostgreSQL, two processes
python -m tests.endurance webhooks --rate 50 --seconds 60 --size 100000
python -m tests.endurance uploads --count 10 --size 200000000
python -m tests.endurance reclassify --count 10000      one process, two, Dask; each killed once too
"""

import argparse
import random
import sys

from tests.endurance import kill, load, reclassify


def main() -> int:
    """Run one trial."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    trials = parser.add_subparsers(dest="trial", required=True)
    one = trials.add_parser("kill")
    one.add_argument("--rounds", type=int, default=50)
    one.add_argument("--shared", action="store_true")
    one.add_argument("--seed", type=int, default=1)
    one = trials.add_parser("webhooks")
    one.add_argument("--rate", type=float, default=50)
    one.add_argument("--seconds", type=float, default=60)
    one.add_argument("--size", type=int, default=100_000)
    one = trials.add_parser("uploads")
    one.add_argument("--count", type=int, default=10)
    one.add_argument("--size", type=int, default=200_000_000)
    one = trials.add_parser("reclassify")
    one.add_argument("--count", type=int, default=10_000)
    one.add_argument("--engine", choices=reclassify.ENGINES, action="append")
    one.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    if told.trial == "kill":
        faults = kill.kill(told.rounds, shared=told.shared, dice=random.Random(told.seed))
    elif told.trial == "reclassify":
        engines = tuple(told.engine or reclassify.ENGINES)
        faults = reclassify.reclassify(told.count, engines, random.Random(told.seed))
    elif told.trial == "webhooks":
        faults = load.webhooks(told.rate, told.seconds, told.size)
    else:
        faults = load.uploads(told.count, told.size)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
