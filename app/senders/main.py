"""`firstfault-sender`: tell the service that a job has ended, whatever the scheduler.

Without arguments it is a hook of Slurm: it notes what it was told, leaves the rest to a process of
its own and returns at once. Exit status: 0 where nothing is left to send, 3 where reports wait,
2 for a configuration or arguments that cannot be meant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from app.senders import config, kubernetes, slurm
from app.senders.outbox import Outbox, new_id

_REPORTS_WAIT = 3
_LARGEST_JOURNAL = 1 << 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of the sender; give the exit status."""
    told = _parser().parse_args(arguments)
    try:
        read = config.read(told.config)
        status: int = told.run(told, read)
    except (config.Unusable, OSError) as error:
        print(f"firstfault-sender: {error}", file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("firstfault-sender", description="Report the end of jobs.")
    beside = Path(sys.argv[0]).with_suffix(".ini")
    parser.add_argument("--config", type=Path, default=beside, help="default: %(default)s")
    parser.set_defaults(run=_hook)
    commands = parser.add_subparsers(metavar="COMMAND", title="without one: be a hook of Slurm")
    flush = commands.add_parser("flush", help="send what waits in the spool folder, for a timer")
    flush.set_defaults(run=_flush)
    watch = commands.add_parser("watch", help="report the Jobs of a Kubernetes cluster, for ever")
    watch.set_defaults(run=_watch)
    report = commands.add_parser("report", help="report one job of any other scheduler")
    report.set_defaults(run=_report)
    report.add_argument("--log", action="append", required=True, help="file or folder; repeatable")
    for name in ("scheduler", "cluster", "job-id", "name", "user", "job-type", "state"):
        report.add_argument(f"--{name}", required=name == "job-id")
    for name in ("started-at", "ended-at", "checkpoint-dir"):
        report.add_argument(f"--{name}")
    for name in ("attempt", "exit-code", "signal", "gpus"):
        report.add_argument(f"--{name}", type=int)
    report.add_argument("--node", action="append", dest="nodes", help="repeatable")
    return parser


def _hook(_: argparse.Namespace, read: config.Config) -> int:
    if not {"JOBID", "SLURM_JOB_ID"} & set(os.environ):
        raise config.Unusable("not started by Slurm: name a command (--help lists them)")
    site = _slurm(read)
    id = site.note(os.environ)
    if id is not None and _detached(read.service.spool / "sender.log"):
        site.complete(id)
        site.adopt()
        site.outbox.drain(read.service.patience_seconds)
    return 0


def _flush(_: argparse.Namespace, read: config.Config) -> int:
    _slurm(read).adopt()
    return _REPORTS_WAIT if Outbox(read.service).drain(0) else 0


def _watch(_: argparse.Namespace, read: config.Config) -> int:
    told = read.part("kubernetes", kubernetes.KEYS)
    kubernetes.Watcher.configured(told, Outbox(read.service)).watch()
    return 0


def _report(told: argparse.Namespace, read: config.Config) -> int:
    data = {
        key: value
        for key, value in vars(told).items()
        if value is not None and key not in ("config", "run", "log")
    }
    logs = [Path(log).absolute() for log in told.log]
    data["log_uris"] = [f"file://{quote(os.fsencode(log))}" for log in logs]
    outbox = Outbox(read.service)
    outbox.put(data, new_id())
    return _REPORTS_WAIT if outbox.drain(0) else 0


def _slurm(read: config.Config) -> slurm.Slurm:
    told = read.part("slurm", slurm.KEYS)
    return slurm.Slurm(
        outbox=Outbox(read.service),
        spool=read.service.spool,
        cluster=told.get("cluster", ""),
        partitions=tuple(told.get("partitions", "").split()),
        slurm_conf=told.get("slurm_conf", ""),
        bin_dir=told.get("bin_dir", ""),
    )


def _detached(journal: Path) -> bool:
    """Fork a process that no scheduler waits for; say whether this is it."""
    if child := os.fork():
        os.waitpid(child, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    is_full = journal.exists() and journal.stat().st_size > _LARGEST_JOURNAL
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_full else os.O_APPEND)
    out, nothing = os.open(journal, flags, 0o600), os.open(os.devnull, os.O_RDONLY)
    for end, place in enumerate((nothing, out, out)):
        os.dup2(place, end)
    return True


def run() -> None:
    """End the process with the status of `main`."""
    sys.exit(main())


if __name__ == "__main__":
    run()
