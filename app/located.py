"""Where ranks run, as far as a log tells: what turns a rank, an address or a label into a place."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Awaited = Literal["", "another collective", "evaluation", "preparation"]


@dataclass(frozen=True, slots=True)
class Suspect:
    """Where the fault may sit; what is not known is None."""

    host: str | None = None
    rank: int | None = None
    gpu: str | None = None
    nic: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a file that a heading gives to a host or rank, from the line after `number`."""

    number: int
    host: str | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """What marks, prefixes and headings tell of hosts, GPUs and ranks.

    `only_host` is set where the whole log knows a single host; `world` is the number of ranks, as
    far as ranks were seen. `rank_of_stream` names the rank behind a label that does not tell it, by
    file; `rank_of_gpu` the one rank that uses a PCI address; `first_rank` is the rank of local
    process 0, where the log is that of one node.
    """

    host_of_rank: Mapping[int, str] = field(default_factory=dict)
    gpu_of_rank: Mapping[int, str] = field(default_factory=dict)
    host_of_ip: Mapping[str, str] = field(default_factory=dict)
    only_host: str | None = None
    world: int = 0
    rank_of_stream: Mapping[tuple[int, str], int] = field(default_factory=dict)
    rank_of_gpu: Mapping[int, int] = field(default_factory=dict)
    sections: Mapping[int, Sequence[Section]] = field(default_factory=dict)
    first_rank: int | None = None

    def section(self, file: int, number: int) -> Section:
        """Give the heading under which a line stands; an empty one where there is none."""
        headings = self.sections.get(file, ())
        index = bisect_right(headings, number, key=lambda heading: heading.number)
        return headings[index - 1] if index else Section(0)

    def rank_of_local(self, local_rank: int | None) -> int | None:
        """Give the rank of a node's process, where the log is that of one node."""
        if local_rank is None or self.first_rank is None:
            return None
        return self.first_rank + local_rank

    def rank_on_gpu(self, gpu: str | None) -> int | None:
        """Give the rank that uses a GPU, named by its PCI address."""
        address = pci_address(gpu or "")
        return None if address is None else self.rank_of_gpu.get(address)

    def host_at(self, address: str) -> str:
        """Give the name of the host that has an address, or the address."""
        return self.host_of_ip.get(address, address)


def whole(text: str | None) -> int | None:
    """Read the whole number of a fact, None where there is none."""
    return int(text) if text and text.isascii() and text.isdigit() else None


def pci_address(text: str) -> int | None:
    """Read `0000:5d:00`, `00000000:5D:00.0` and NCCL's `5d000` as one number; None for others."""
    parts = text.partition(".")[0].split(":")
    try:
        numbers = [int(part, 16) for part in parts]
    except ValueError:
        return None
    match numbers:
        case [domain, bus, device]:
            return domain << 20 | bus << 12 | device << 4
        case [bus, device] if len(parts[0]) == 2:
            return bus << 12 | device << 4
        case [packed] if len(parts[0]) >= 4:
            return packed & ~0xF
    return None
