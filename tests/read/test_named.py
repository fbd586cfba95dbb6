"""File names that tell who printed, and names that do not."""

import pytest

from app.model import Prefix
from app.read.named import completed, printers


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank_3.log", 3),
        ("logs/worker-rank12.out", 12),
        ("7f3a/attempt_0/5/stderr.log", 5),
        ("crank3.log", None),
        ("train.log", None),
        ("torchrun_1.log", None),
    ],
)
def test_a_rank_is_read_from_the_name_of_its_file(name, rank):
    assert printers([name])[0].rank == rank


def test_hosts_are_read_where_the_files_bear_different_ones():
    told = printers(["vx-31.log", "vx-32.log", "node2.dmesg.txt"])
    assert [printer.host for printer in told] == ["vx-31", "vx-32", "node2"]


@pytest.mark.parametrize(
    "names", [["vx-31.log"], ["train1.log", "train2.log"], ["slurm-4711.out", "slurm-4712.out"]]
)
def test_a_single_name_or_a_numbered_log_is_no_host(names):
    assert all(printer.host is None for printer in printers(names))


def test_what_the_line_tells_goes_before_what_the_file_tells():
    printer = Prefix(rank=3, host="vx-31")
    assert completed(Prefix(end=9, rank=5), printer) == Prefix(end=9, rank=5, host="vx-31")
    assert completed(Prefix(rank=1, host="a"), printer) == Prefix(rank=1, host="a")
    assert completed(Prefix(end=4), Prefix()) == Prefix(end=4)


@pytest.mark.parametrize(
    "name", ["console-vx31.log", "vx31-dmesg.txt", "logs/kern_vx31.log", "vx31.console"]
)
def test_the_log_of_a_machine_names_its_host_even_alone(name):
    assert [printer.host for printer in printers([name, "train.out"])] == ["vx31", None]
