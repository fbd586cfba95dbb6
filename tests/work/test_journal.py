import subprocess
import sys

_WRITES = """
import logging, structlog
from app.work import journal
journal.set_up("service")
for _ in range(1_000):
    structlog.get_logger().info("a line of ours", padding="x" * 100)
    logging.getLogger("library").warning("a line of a library")
print("went on")
"""


def test_a_full_disk_below_the_log_ends_nothing():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", _WRITES], stdout=subprocess.PIPE, stderr=full, text=True,
            check=False,
        )  # fmt: skip
    assert done.stdout == "went on\n"
