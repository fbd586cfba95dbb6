"""Decide whether what looks like a label is one, by evidence gathered over a file.

`3: ` before a text is srun's label, or a key of a dump; `worker-2: ` is a machine, or the subject
of a sentence. One line seldom tells; what other lines of the file did does.
"""

import re

# How only a program begins what it prints, never a value in a dump or the rest of a sentence:
# Traceback (most recent call last):   [rank3]:   [E1124 04:22:11   gpu-7:81:90 [3] NCCL INFO
SPEAKS = re.compile(
    r"Traceback \(most recent| {2,}File \"|\[rank\d|\[default\d|\[NeMo [A-Z] |:::MLLOG "
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d |\[ {0,7}\d{1,8}\.\d{6}\] "
    r"|\[\d\d:\d\d:\d\d[\].,]|NVRM: |mlx5_core [\d:.]+: |kernel: "
    r"|\[?[IWEF]\d{3,4} \d\d:|[\[(]?\d{4}-\d\d-\d\d[T _]\d\d:|[A-Za-z][\w.-]*:\d+:\d+ \[\d+\] "
    r"|slurmstepd: |terminate called after|client_loop: send disconnect|NCCL version \d"
    r"|\[titan\] \d{4}-|torch\.distributed\.[a-z]"
)
# INFO: underlay of /etc/localtime   WARNING:root:DALI iterator
_LEVEL = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[:| ]")
# the start of words, of a path or of an indented text; not of a number, list or mapping
_WORDS = re.compile(r" *[A-Za-z/<*+#=-]")

_ENOUGH = 3
_NEIGHBOURS = 4
_MOST_TEXTS = 4096


class Tasks:
    """Says whether `3: ` is the label that `srun --label` puts before each line of a task.

    A task comes back with another text, and tasks say the same text; the keys of a dump count up,
    and come back with the values they had. Once a few lines speak for labels, all are believed.
    """

    def __init__(self) -> None:
        """Start a file."""
        self._points = 0
        self._ranks = True
        self._last = (-1, -1)
        self._texts: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    @property
    def are_ranks(self) -> bool:
        """Say whether a task is a rank; not where each task starts several processes."""
        return self._ranks

    def start_several(self) -> None:
        """Note that a line showed a task number that is not the rank."""
        self._ranks = False

    def trust(self, number: int, raw: str, at: int, line: int) -> bool:
        """Say whether `number` before the text at `at` is a label; `line` counts up."""
        if self._points >= _ENOUGH:
            return True
        if SPEAKS.match(raw, at) or _LEVEL.match(raw, at):
            self._points += 2
            return True
        if _WORDS.match(raw, at):
            self._points = max(0, self._points + self._weigh(number, raw[at : at + 80], line))
        return self._points >= _ENOUGH

    def _weigh(self, number: int, text: str, line: int) -> int:
        before, self._last = self._last, (line, number)
        if len(self._numbers) > _MOST_TEXTS:
            self._numbers.clear()
            self._texts.clear()
        known = self._texts.get(number)
        holder = self._numbers.setdefault(text, number)
        self._texts[number] = text
        if line - before[0] > _NEIGHBOURS or number == before[1] + 1:
            return 0
        if known == text:
            return -1
        said_by_another = holder != number and " " in text
        return 1 if known is not None or said_by_another else 0


# worker-2   node17   trainer-worker-3   dgx-04: a number behind what a machine or pod is called
_MACHINE = re.compile(
    r"(?:[a-z0-9-]*[a-z0-9]-)?(?:node|worker|trainer|master|launcher|pserver|chief|ps|hgx|dgx)s?"
    r"-?\d{1,5}(?:-\d{1,5})*(?:\.[a-z0-9.-]+)?$"
)
# gpu-a13-11   node-a   c000001   SH-IDC1-10-140-60-11   gn-101.cluster.local
_HOSTLIKE = re.compile(r"[A-Za-z][A-Za-z0-9-]*(?:\d|-[a-z])(?:\.[a-z0-9.-]+)?$")
# nid002   b200-02   h41n09
_NUMBERED = re.compile(r"([a-z][a-z0-9-]{0,40}?)(\d{1,5})")
# rank0   step-100   EI0002   fp16: what else ends in a number
_COUNTED = re.compile(
    r"(?i:rank|gpu|cuda|npu|device|step|epoch|layer|iter|iteration|batch|stage|phase|attempt|trial"
    r"|run|part|shard|process|thread|task|job|exp|version|pid|urllib|boto|fp|bf|int)[-_]?\d+(?:\.|$)"
    r"|[A-Z]{1,3}\d+$"
)
# what Kubernetes operators call the container of a training pod
_CONTAINERS = frozenset(
    [
        "pytorch",
        "tensorflow",
        "jax",
        "mpi",
        "paddle",
        "xgboost",
        "trainer",
        "ray-worker",
        "ray-head",
    ]
)
# i.finetune/0 [default0]:[rank0]: step 10: what torchx and NeMo-Run call the replica of a role
_REPLICA = re.compile(r"[A-Za-z][\w.-]{0,60}/\d{1,5}$")
_TAGGED = re.compile(r"\[(?:rank|default|trainer|worker)\d")


class Hosts:
    """Says whether a name before a text is the machine or pod that printed it."""

    def __init__(self) -> None:
        """Start a file."""
        self._known: set[str] = set()
        self._met: set[str] = set()
        self._numbers: dict[str, set[str]] = {}
        self._replicas: set[str] = set()

    def learn(self, name: str) -> None:
        """Remember a name that a line proved to be a host."""
        self._known.add(name)

    def prints(self, name: str, raw: str, at: int) -> bool:
        """Say whether `name: ` names the host of the text at `at`, as pdsh writes it."""
        return _MACHINE.match(name) is not None or self.speaks(name, raw, at)

    def tagged(self, name: str) -> bool:
        """Say whether the name in `[worker-2] ` is a host.

        One like no machine must come twice, and be numbered as machines are: `nid002`, or several
        names that differ in their numbers.
        """
        if name in self._known or _MACHINE.match(name):
            return True
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None or _COUNTED.match(name):
            return False
        numbers = self._numbers.setdefault(numbered[1], set())
        numbers.add(numbered[2])
        if name in self._met and (len(numbers) > 1 or numbered[2].startswith("0")):
            self._known.add(name)
            return True
        self._met.add(name)
        return False

    def speaks(self, name: str, raw: str, at: int) -> bool:
        """Say whether `name ` stands before a text that only a program prints."""
        if name in self._known:
            return True
        if _HOSTLIKE.match(name) and not _COUNTED.match(name) and SPEAKS.match(raw, at):
            self._known.add(name)
            return True
        return False

    def column(self, name: str) -> bool:
        """Say whether `name  | ` is docker compose's label; an unlikely name must come twice."""
        if name in self._known or _MACHINE.match(name):
            return True
        if name in self._met:
            return True
        if _HOSTLIKE.match(name) and not _COUNTED.match(name):
            self._met.add(name)
        return False

    def replica(self, name: str, raw: str, at: int) -> bool:
        """Say whether `name/3 ` is a replica of a role; its first line must go on with a label."""
        if name not in self._replicas and _REPLICA.match(name) and _TAGGED.match(raw, at):
            self._replicas.add(name)
        return name in self._replicas

    def pod(self, name: str, raw: str, end: int) -> int:
        """Return where the text begins behind `name container `, or `end` if no pod printed it."""
        container = raw[end + 1 : end + 24].partition(" ")[0]
        if container in _CONTAINERS and raw.startswith(" ", end + 1 + len(container)):
            return end + len(container) + 2
        return end
