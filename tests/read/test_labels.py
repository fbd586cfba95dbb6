import pytest

from app.read.labels import Hosts, Tasks


def believed(lines: list[tuple[int, str]]) -> list[bool]:
    tasks = Tasks()
    return [tasks.trust(number, text, 0, line) for line, (number, text) in enumerate(lines, 1)]


def test_one_text_that_only_a_program_begins_so_is_enough() -> None:
    assert believed([(3, "Traceback (most recent call last):")]) == [True]
    assert believed([(3, "[2026-01-02 03:04:05,678] [INFO] up")]) == [True]


def test_tasks_that_say_the_same_in_no_order_are_believed_after_a_while() -> None:
    lines = [(number, "initialised the process group") for number in [2, 0, 3, 1, 2, 5, 4]]

    assert believed(lines)[-1]
    assert not believed(lines)[0]


def test_one_task_that_says_new_things_is_believed_after_a_while() -> None:
    assert believed([(0, f"loading shard {n} of 8") for n in range(6)])[-1]


def test_once_believed_every_text_counts() -> None:
    lines = [(0, f"loading shard {n} of 8") for n in range(6)]

    assert believed([*lines, (1, "0.5")])[-1]


@pytest.mark.parametrize(
    "lines",
    [
        [(n, "{") for n in range(9)] * 3,
        [(n, f"{n / 7:.3f}") for n in range(9)] * 3,
        [(n, f"[grad.layer{n}.weight]") for n in range(9)] * 3,
        [(n, name) for n, name in enumerate(["person", "bicycle", "car", "bus"])] * 8,
        [(0, "0.25"), (1, "0.75"), (0, "0.5"), (1, "0.5")] * 4,
    ],
)
def test_the_keys_of_a_dump_are_never_believed(lines: list[tuple[int, str]]) -> None:
    assert not any(believed(lines))


def test_labels_far_from_each_other_are_not_believed() -> None:
    tasks = Tasks()

    assert not any(tasks.trust(0, f"part {n} follows", 0, n * 50) for n in range(1, 20))


@pytest.mark.parametrize(
    "name",
    ["worker-2", "node17", "trainer-worker-3", "dgx-04.cluster.local", "node-3-12", "worker0"],
)
def test_what_machines_and_pods_are_called_is_a_host_at_once(name: str) -> None:
    assert Hosts().prints(name, "out of memory", 0)


@pytest.mark.parametrize("name", ["gpu-a13-11", "node-a", "c000001", "SH-IDC1-10-14", "gn-7.lan"])
def test_another_name_is_a_host_once_something_speaks_behind_it(name: str) -> None:
    hosts = Hosts()

    assert not hosts.prints(name, "out of memory", 0)
    assert hosts.prints(name, "[rank3]: Traceback (most recent call last):", 0)
    assert hosts.prints(name, "out of memory", 0)


@pytest.mark.parametrize(
    "name",
    [
        "wandb",
        "RuntimeError",
        "rank3",
        "gpu-0",
        "EI0002",
        "L2",
        "step-100",
        "urllib3.util",
        "mlx5_0",
    ],
)
def test_other_names_are_no_hosts_whatever_follows(name: str) -> None:
    assert not Hosts().prints(name, "Traceback (most recent call last):", 0)


def test_a_column_of_an_unlikely_name_must_come_twice() -> None:
    hosts = Hosts()

    assert hosts.column("trainer-1")
    assert [hosts.column("web-1"), hosts.column("web-1")] == [False, True]
    assert [hosts.column("layer_1"), hosts.column("layer_1")] == [False, False]
