"""A server whose workers have the fake reader; its settings come from the environment.

The web stack is imported late, since every worker process imports this module again.
"""

import sys

from app.errors import FirstFaultError
from tests.api.fake_reader import FakeReader

if __name__ == "__main__":
    from app.cli.serve import serve

    try:
        serve(prepare=FakeReader)
    except FirstFaultError as error:
        print(f"firstfault: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
