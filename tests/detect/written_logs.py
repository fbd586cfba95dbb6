"""Invented logs with exceptions in them, and how the tests read them."""

import re

from app.detect.traceback import Raised, find_raised
from app.model import Line

LABEL = re.compile(r"\[rank(\d+)\]: ?|(\(\w+ pid=\d+\)) |(\[\d\d:\d\d:\d\d\] )")


def read(log: str, file: int = 0) -> list[Line]:
    """Make the lines of a log; blank ones are left out, as reading does."""
    lines = []
    for number, raw in enumerate(log.strip("\n").split("\n"), 1):
        label = LABEL.match(raw)
        rank = int(label[1]) if label and label[1] else None
        stream = f"rank {rank}" if rank is not None else (label[2] or "" if label else "")
        time = float(raw[7:9]) if label and label[3] else None
        text = raw[label.end() :] if label else raw
        if raw.strip():
            lines.append(Line(file, number, raw, text, rank=rank, stream=stream, time=time))
    return lines


def find(log: str) -> list[tuple[str, str, str]]:
    """Say of each exception its type, the first line of its message and its kind."""
    return [(r.type, r.message.split("\n")[0], r.kind) for r in find_raised(read(log))]


def the_one(log: str) -> Raised:
    """Give the only exception of a log."""
    (raised,) = find_raised(read(log))
    return raised


PLAIN = """
loading shards
Traceback (most recent call last):
  File "/opt/tern/train.py", line 90, in <module>
    main()
  File "/opt/tern/train.py", line 71, in main
    batch = pool[name]
            ~~~~^^^^^^
KeyError: 'tokens'
"""

NATIVE = """
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: unspecified launch failure
CUDA kernel errors might be asynchronously reported at some other API call.

Exception raised from query at ../c10/cuda/CUDAEvent.h:91 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation) + 0x57 (0x7f in libc10.so)
"""

FORMS = {
    "plain": (PLAIN, [("KeyError", "'tokens'", "uncaught")]),
    "source_lines_that_python_repeats_or_underlines": (
        """
Traceback (most recent call last):
  File "walk.py", line 3, in down
    return down(node)
           ^^^^^^^^^^
  [Previous line repeated 981 more times]
RecursionError: maximum recursion depth exceeded
""",
        [("RecursionError", "maximum recursion depth exceeded", "uncaught")],
    ),
    "no_message": (
        """
Traceback (most recent call last):
  File "a.py", line 3, in f
    raise RuntimeError
RuntimeError
""",
        [("RuntimeError", "", "uncaught")],
    ),
    "a_name_that_ends_in_nothing_known": (
        """
Traceback (most recent call last):
  File "a.py", line 3, in f
    raise Halted("twice")
tern.flow.Halted: twice
""",
        [("Halted", "twice", "uncaught")],
    ),
    "a_line_of_somebody_else_between_the_frames": (
        """
Traceback (most recent call last):
  File "a.py", line 3, in f
Epoch: 4
    g()
  File "a.py", line 9, in g
    return 1 / n
ZeroDivisionError: division by zero
""",
        [("ZeroDivisionError", "division by zero", "uncaught")],
    ),
    "syntax": (
        """
  File "/opt/tern/config.py", line 14
    rate = (0.1
           ^
SyntaxError: '(' was never closed
""",
        [("SyntaxError", "'(' was never closed", "uncaught")],
    ),
    "syntax_of_an_imported_module": (
        """
Traceback (most recent call last):
  File "/opt/tern/train.py", line 2, in <module>
    import config
  File "/opt/tern/config.py", line 14
    rate = 0.1
IndentationError: unexpected indent
""",
        [("IndentationError", "unexpected indent", "uncaught")],
    ),
    "glued_to_a_bar": (
        """
shards: 100%|##########| 3/3 [00:01<00:00]Traceback (most recent call last):
  File "a.py", line 3, in f
    g()
ValueError: empty shard
""",
        [("ValueError", "empty shard", "uncaught")],
    ),
    "bare": (
        "step 3\nKeyError: 'mask'\ntorch.cuda.OutOfMemoryError: CUDA out of memory.\nRuntimeError",
        [
            ("KeyError", "'mask'", "bare"),
            ("OutOfMemoryError", "CUDA out of memory.", "bare"),
            ("RuntimeError", "", "bare"),
        ],
    ),
    "bare_of_ranks_that_printed_at_once": (
        "OSErrorOSErrorOSError: : : [Errno 5] Input/output error",
        [("OSError", "[Errno 5] Input/output error", "bare")],
    ),
    "not_exceptions": (
        """
Error: no such option
LustreError: 11-0: scratch-OST0003-osc: operation ost_read failed: rc = -107
ncclSystemError: System call failed.
UserWarning: slow tokenizer
INFO: done
    ValueError: if the rate is negative
""",
        [],
    ),
    "rich_box": (
        """
╭──────────────── Traceback (most recent call last) ────────────────╮
│ /opt/tern/train.py:90 in main                                      │
│                                                                    │
│    89 │   for batch in loader:                                     │
│ ❱  90 │   │   step(batch)                                          │
│ ╭─────────── locals ───────────╮                                   │
│ │ KeyError: 'not this one'     │                                   │
│ ╰──────────────────────────────╯                                   │
╰────────────────────────────────────────────────────────────────────╯
IndexError: index 9 is out of range
""",
        [("IndexError", "index 9 is out of range", "uncaught")],
    ),
    "loguru": (
        """
2026-03-04 11:12:13.555 | ERROR    | tern.run:<module>:12 - An error has been caught in 'main'
Traceback (most recent call last):

> File "/opt/tern/run.py", line 12, in main
    load(path)
    │    └ '/data/a'
    └ <function load at 0x7f00>

  File "/opt/tern/run.py", line 8, in load
    raise ValueError(path)
          └ '/data/a'

ValueError: /data/a
""",
        [("ValueError", "/data/a", "logged")],
    ),
    "ipython": (
        """
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
File ~/tern/cells.py:12, in rows(table)
     11 for row in table:
---> 12     yield row["id"]

KeyError: 'id'
""",
        [("KeyError", "'id'", "uncaught")],
    ),
    "exception_group": (
        """
  + Exception Group Traceback (most recent call last):
  |   File "/opt/tern/fetch.py", line 5, in <module>
  |     asyncio.run(main())
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/opt/tern/fetch.py", line 9, in fetch
    |     raise ValueError("no header")
    | ValueError: no header
    +---------------- 2 ----------------
    | KeyError: 'etag'
    +------------------------------------
""",
        [("ValueError", "no header", "uncaught"), ("KeyError", "'etag'", "uncaught")],
    ),
    "destructor": (
        """
Exception ignored in: <function Store.__del__ at 0x7f00>
Traceback (most recent call last):
  File "/opt/tern/store.py", line 51, in __del__
    self.file.close()
AttributeError: 'Store' object has no attribute 'file'
""",
        [("AttributeError", "'Store' object has no attribute 'file'", "ignored")],
    ),
    "destructor_without_a_word": (
        """
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/util.py", line 303, in _run_finalizers
    finalizer()
OSError: [Errno 16] Device or resource busy
""",
        [("OSError", "[Errno 16] Device or resource busy", "ignored")],
    ),
    "a_logger_that_fails_and_its_call_stack": (
        """
--- Logging error ---
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 1110, in emit
    msg = self.format(record)
TypeError: not all arguments converted during string formatting
Call stack:
  File "/opt/tern/train.py", line 9, in <module>
    main()
Message: 'rate'
""",
        [("TypeError", "not all arguments converted during string formatting", "ignored")],
    ),
    "at_exit": (
        """
Error in atexit._run_exitfuncs:
Traceback (most recent call last):
  File "/opt/tern/report.py", line 7, in flush
    self.socket.send(b"")
BrokenPipeError: [Errno 32] Broken pipe
""",
        [("BrokenPipeError", "[Errno 32] Broken pipe", "ignored")],
    ),
    "thread_alone": (
        """
Exception in thread Thread-3 (prefetch):
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner
    self.run()
TypeError: unhashable type: 'list'
""",
        [("TypeError", "unhashable type: 'list'", "uncaught")],
    ),
    "thread_of_a_tracker": (
        """Exception in thread Sender:
Traceback (most recent call last):
  File "/lib/python3.11/site-packages/wandb/sender.py", line 88, in send
BrokenPipeError: gone
""",
        [("BrokenPipeError", "gone", "ignored")],
    ),
    "thread_beside_a_crash": (
        """
Exception in thread Thread-3 (prefetch):
Traceback (most recent call last):
  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner
    self.run()
TypeError: unhashable type: 'list'
"""
        + PLAIN.strip(),
        [
            ("TypeError", "unhashable type: 'list'", "logged"),
            ("KeyError", "'tokens'", "uncaught"),
        ],
    ),
    "logger_exception": (
        """
2026-03-04 11:12:13,555 - tern.metrics - ERROR - push failed
Traceback (most recent call last):
  File "/opt/tern/metrics.py", line 30, in push
    self.post(values)
ConnectionError: 503
""",
        [("ConnectionError", "503", "logged")],
    ),
    "crash_after_a_harmless_record": (
        "2026-03-04 11:12:13,555 - tern - INFO - no errors so far\n" + PLAIN.strip(),
        [("KeyError", "'tokens'", "uncaught")],
    ),
    "every_line_behind_a_logger": (
        """
(Engine pid=71) ERROR 03-04 11:12:13 [executor.py:88] Worker failed.
(Engine pid=71) ERROR 03-04 11:12:13 [executor.py:88] Traceback (most recent call last):
(Engine pid=71) ERROR 03-04 11:12:13 [executor.py:88]   File "a.py", line 3, in f
(Engine pid=71) ERROR 03-04 11:12:13 [executor.py:88]     g()
(Engine pid=71) ERROR 03-04 11:12:13 [executor.py:88] ValueError: bad block table
""",
        [("ValueError", "bad block table", "logged")],
    ),
    "in_one_line_of_json": (
        r'{"level": "error", "exc": "Traceback (most recent call last):\n  File \"a.py\", line 3, '
        r'in f\n    d[\"k\"]\nKeyError: \"it\'s \\\"k\\\"\"\n", "host": "n1: ValueError: no"}',
        [("KeyError", '"it\'s \\"k\\""', "logged")],
    ),
    "in_one_line_of_a_repr": (
        r"""worker said b'Traceback (most recent call last):\n  File "a.py", line 3, in f\n"""
        r"""    f()\nKeyError: \'k\'\n'""",
        [("KeyError", "'k'", "logged")],
    ),
    "each_line_in_a_record_of_the_container_runtime": (
        r"""
{"log":"Traceback (most recent call last):\n","stream":"stderr","time":"2026-03-04T11:12:13.5Z"}
{"log":"  File \"a.py\", line 3, in f\n","stream":"stderr","time":"2026-03-04T11:12:13.5Z"}
stderr F     d["k"]
{"log":"KeyError: 'k'\n","stream":"stderr","time":"2026-03-04T11:12:13.5Z"}
""",
        [("KeyError", "'k'", "uncaught")],
    ),
    "error_file_of_torchelastic": (
        r'{"message": {"message": "ValueError: rate is \"x\"", "extraInfo": {"timestamp": "17"}}}',
        [("ValueError", 'rate is "x"', "reported")],
    ),
    "error_file_with_its_call_stack": (
        r'{"message": {"message": "KeyError: \"k\"", "extraInfo": {"py_callstack": "Traceback '
        r'(most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nKeyError: \"k\"\n"}}}',
        [("KeyError", '"k"', "reported")],
    ),
    "what_the_cpp_runtime_says": (
        NATIVE,
        [("c10::Error", "CUDA error: unspecified launch failure", "uncaught")],
    ),
    "two_cpp_aborts_at_once": (
        """
terminate called after throwing an instance of 'std::runtime_error'
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  first
  what():  second
""",
        [
            ("std::runtime_error", "first", "uncaught"),
            ("c10::DistBackendError", "second", "uncaught"),
        ],
    ),
    "fault_handler": (
        """
Fatal Python error: Segmentation fault

Current thread 0x00007f0012345678 (most recent call first):
  File "/opt/tern/ops.py", line 44 in matmul
  File "/opt/tern/train.py", line 90 in main
KeyError: 'of another process'
""",
        [("KeyError", "'of another process'", "bare")],
    ),
    "launcher": (
        """
[E] failed (exitcode: 1) local_rank: 0 (pid: 55) of binary: /usr/bin/python3
Traceback (most recent call last):
  File "/usr/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  exitcode  : -9 (pid: 55)
  traceback : Signal 9 (SIGKILL) received by PID 55
============================================================
""",
        [("ChildFailedError", "train.py FAILED", "reported")],
    ),
    "launcher_whose_command_failed": (
        """
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/accelerate/commands/launch.py", line 9, in go
    raise subprocess.CalledProcessError(1, cmd)
subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status 1.
""",
        [
            (
                "CalledProcessError",
                "Command '['python', 'train.py']' returned non-zero exit status 1.",
                "reported",
            )
        ],
    ),
}
