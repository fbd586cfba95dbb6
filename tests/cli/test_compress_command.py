from tests.cli.running import SHOWCASE, Command


def test_the_digest_puts_the_fault_first_with_its_own_line_number(firstfault: Command) -> None:
    told = firstfault("compress", SHOWCASE)
    lines = SHOWCASE.read_text().split("\n")
    number = next(n for n, line in enumerate(lines, 1) if "illegal memory access" in line)
    assert (told.status, told.err) == (0, "")
    assert f"{number}: {lines[number - 1]}" in told.out.split("\n")
    assert "== First faults ==" in told.out


def test_the_digest_keeps_to_its_budget(firstfault: Command) -> None:
    short = firstfault("compress", "--tokens", "400", SHOWCASE)
    assert 100 < len(short.out.encode()) < 400 * 4
