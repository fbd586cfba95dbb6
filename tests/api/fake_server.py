"""A server whose workers have the fake reader; its settings come from the environment.

With SKEW_SECONDS its clock is off by so many. The web stack is imported late, since every worker
process imports this module again.
"""

import os
import sys
import time

from app.errors import FirstFaultError
from tests.api.fake_reader import FakeReader

if __name__ == "__main__":
    if skew := float(os.environ.get("SKEW_SECONDS", "0")):
        right = time.time
        time.time = lambda: right() + skew

    from app.cli.serve import serve

    try:
        serve(prepare=FakeReader)
    except FirstFaultError as error:
        print(f"firstfault: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
