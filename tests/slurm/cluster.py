"""A whole Slurm on one machine: munged, slurmctld and two nodes, in a folder of their own."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.waiting import until

_NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "squeue")
_DEVICES = ("null", "zero", "full", "urandom")  # stand for GPUs, which slurmd wants to see
_CONF = """\
ClusterName=testbed
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={at}/munge.socket
SlurmctldPort={ports[0]}
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool.%n
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.%n.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/slurmd.%n.log
SlurmdParameters=config_overrides
SlurmdTimeout=120
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherParams=OverMemoryKill
JobAcctGatherFrequency=task=1
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
KillWait=2
MailProg=/bin/true
ReturnToService=2
JobCompType=jobcomp/script
JobCompLoc={jobcomp}
EpilogSlurmctld={epilog}
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8 RealMemory=4000 Gres=gpu:4
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8 RealMemory=4000 Gres=gpu:4
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=late Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10
"""


def why_not() -> str | None:
    """Say what keeps a Slurm from being started here."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    if missing := [name for name in _NEEDED if not shutil.which(name, path=path)]:
        return f"no {missing[0]} here: apt-get install slurm-wlm munge"
    return None if os.geteuid() == 0 else "slurmd starts jobs as root only"


class Cluster:
    """A running Slurm; jobs write their logs into `logs`."""

    def __init__(self, at: Path) -> None:
        self.at = at
        self.logs = at / "logs"
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "SLURM_CONF": str(at / "slurm.conf"),
        }
        self._daemons: list[subprocess.Popen[bytes]] = []

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environment, cwd=self.logs, capture_output=True, text=True,
            timeout=30, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout.strip()

    def submit(self, name: str, code: str, *options: str) -> str:
        """Submit a job that is a Python program; give its number."""
        program = self.at / f"{name}.py"
        program.write_text(code)
        script = f"#!/bin/sh\nexec /usr/bin/python3 -u '{program}'\n"
        (self.at / f"{name}.sh").write_text(script)
        return self.run("sbatch", "--parsable", "-J", name, *options, str(self.at / f"{name}.sh"))

    def state(self, job: str) -> str:
        return self.run("squeue", "-h", "-o", "%T", "-j", job)

    def is_running(self, job: str) -> bool:
        return self.state(job) == "RUNNING"

    def start(self, jobcomp: Path, epilog: Path) -> None:
        told = {"at": self.at, "host": socket.gethostname().partition(".")[0]}
        conf = _CONF.format(**told, ports=_free_ports(3), jobcomp=jobcomp, epilog=epilog)
        (self.at / "slurm.conf").write_text(conf)
        gpus = "".join(f"Name=gpu File=/dev/{file}\n" for file in _DEVICES)
        (self.at / "gres.conf").write_text(gpus)
        for folder in ("logs", "state", "spool.n1", "spool.n2"):
            (self.at / folder).mkdir()
        key = self.at / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munge = {"key-file": key, "socket": self.at / "munge.socket"}
        munge |= {f"{kind}-file": self.at / f"munge.{kind}" for kind in ("pid", "log", "seed")}
        self._daemon("munged", "-F", "--force", *(f"--{key}={at}" for key, at in munge.items()))
        until(lambda: (self.at / "munge.socket").exists(), 10, "munged")
        self._daemon("slurmctld", "-D")
        for node in ("n1", "n2"):
            self._daemon("slurmd", "-D", "-N", node)
        until(lambda: self._states() == ["idle", "idle"], 30, "both nodes")

    def _states(self) -> list[str]:
        done = subprocess.run(
            ["sinfo", "-h", "-N", "-p", "low", "-o", "%T"], env=self.environment,
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        return done.stdout.split()

    def _daemon(self, *command: str) -> None:
        with (self.at / f"{command[0]}.out").open("ab") as out:
            daemon = subprocess.Popen(
                command, env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )
        self._daemons.append(daemon)

    def stop(self) -> None:
        """End the jobs, the daemons, and whatever else of them is left."""
        with suppress(AssertionError, subprocess.SubprocessError):
            self.run("scancel", "--signal=KILL", "--full", "-u", "root")
            self.run("scancel", "-u", "root")
            until(lambda: not self.run("squeue", "-h", "-t", "R,CG"), 10, "the end of all jobs")
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait(10)
        for process in self._strays():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def told(self) -> str:
        """Give the end of what daemons and senders printed."""
        files = [
            *self.at.glob("*.log"),
            *self.at.glob("*.out"),
            *self.at.glob("*/spool/sender.log"),
        ]
        texts = {file: file.read_text(errors="replace").splitlines()[-20:] for file in files}
        return "\n".join(f"== {file}\n" + "\n".join(text) for file, text in texts.items())

    def _strays(self) -> list[int]:
        """Find the processes that hold this cluster's folder in their environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (
                    os.fsencode(self.environment["SLURM_CONF"])
                    in (process / "environ").read_bytes()
                ):
                    found.append(int(process.name))
        return [process for process in found if process != os.getpid()]


@contextmanager
def running(at: Path, jobcomp: Path, epilog: Path) -> Iterator[Cluster]:
    cluster = Cluster(at)
    try:
        cluster.start(jobcomp, epilog)
        yield cluster
    finally:
        cluster.stop()
        print(cluster.told())  # pytest shows it where the test fails


def _free_ports(count: int) -> list[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in taken]
    for server in taken:
        server.close()
    return ports


def free_port() -> int:
    return _free_ports(1)[0]
