"""Which exception of a chain, of a wrapper or of a table of failures is the one to fix."""

import pytest

from app.detect.traceback import find_raised
from tests.detect.written_logs import read, the_one

TABLE = """
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 58)
  traceback : Traceback (most recent call last):
    File "/opt/tern/train.py", line 71, in main
      step(batch)
  ValueError: rank 3 is late

[2]:
  rank      : 4 (local_rank: 4)
  exitcode  : -15 (pid: 59)
  traceback : Signal 15 (SIGTERM) received by PID 59
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 1 (local_rank: 1)
  traceback : Traceback (most recent call last):
    File "/opt/tern/train.py", line 71, in main
      step(batch)
  KeyError: 'tokens'

============================================================
"""

CARRIED = {
    "dataloader_worker": """
Traceback (most recent call last):
  File "/opt/tern/train.py", line 9, in <module>
    for batch in loader:
RuntimeError: Caught KeyError in DataLoader worker process 3.
Original Traceback (most recent call last):
  File "/opt/tern/data.py", line 40, in __getitem__
    return row["tokens"]
KeyError: 'tokens'
""",
    "spawn": """
Traceback (most recent call last):
  File "/opt/tern/train.py", line 9, in <module>
    mp.spawn(run, nprocs=8)
torch.multiprocessing.spawn.ProcessRaisedException:

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "/opt/tern/train.py", line 40, in run
    row["tokens"]
KeyError: 'tokens'
""",
    "pool": '''
multiprocessing.pool.RemoteTraceback:
"""
Traceback (most recent call last):
  File "/opt/tern/prepare.py", line 40, in encode
    row["tokens"]
KeyError: 'tokens'
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/tern/prepare.py", line 90, in <module>
    pool.map(encode, rows)
KeyError: 'tokens'
''',
    "ray": """
Traceback (most recent call last):
  File "/opt/tern/ppo.py", line 9, in <module>
    ray.get(runner.run.remote())
ray.exceptions.RayTaskError(KeyError): ray::Runner.run() (pid=4, ip=10.0.0.3)
  File "/opt/tern/ppo.py", line 30, in run
    self.init()
ray.exceptions.RayTaskError(KeyError): ray::Worker.init() (pid=9, ip=10.0.0.4)
  File "/opt/tern/worker.py", line 40, in init
    row["tokens"]
KeyError: 'tokens'
""",
    "compiler_backend": """
Traceback (most recent call last):
  File "/opt/tern/train.py", line 9, in <module>
    step(batch)
torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:
KeyError: 'tokens'
""",
    "callback_in_a_header_line": """
Traceback (most recent call last):
  File "/opt/tern/train.py", line 9, in <module>
    step(batch)
jax.errors.JaxRuntimeError: INTERNAL: error calling callback: Traceback (most recent call last):
  File "/opt/tern/host.py", line 40, in feed
    row["tokens"]
KeyError: 'tokens'
""",
    "note_of_left_out_frames": """
jax.errors.SimplifiedTraceback: For simplicity, JAX has removed its internal frames.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/tern/train.py", line 40, in main
    row["tokens"]
KeyError: 'tokens'
""",
    "hydra_without_its_cause": """
Traceback (most recent call last):
  File "/opt/tern/train.py", line 9, in <module>
    instantiate(config)
hydra.errors.InstantiationException: Error in call to target 'tern.Model':
KeyError('tokens')
""",
    "retries": """
tenacity.RetryError: RetryError[<Future at 0x7f00 state=finished raised KeyError>]
""",
}


@pytest.mark.parametrize("log", CARRIED.values(), ids=CARRIED)
def test_an_exception_that_carries_another_gives_the_other(log):
    raised = the_one(log)
    assert raised.type == "KeyError"
    if "line 40" in log:
        assert raised.frames[-1].split(":")[1] == "40"
        assert raised.line.text == "KeyError: 'tokens'"


def test_the_wrappers_stand_behind_what_they_carry_outermost_last():
    raised = the_one(CARRIED["ray"])
    assert [other.type for other in raised.cause_of] == ["RayTaskError", "RayTaskError"]
    assert raised.cause_of[-1].frames == ("/opt/tern/ppo.py:9:<module>",)
    assert raised.frames == ("/opt/tern/worker.py:40:init",)
    assert (raised.first.number, raised.last) == (1, 10)


def test_quotation_marks_close_what_a_remote_traceback_carries():
    raised = the_one(CARRIED["pool"])
    assert [other.type for other in raised.cause_of] == ["RemoteTraceback", "KeyError"]
    assert (raised.first.number, raised.line.number, raised.last) == (1, 6, 14)


def test_a_table_of_failures_gives_every_traceback_in_it_and_leaves_its_records_alone():
    late, key = find_raised(read(TABLE))
    assert [(r.type, r.message, r.kind) for r in (late, key)] == [
        ("ValueError", "rank 3 is late", "reported"),
        ("KeyError", "'tokens'", "reported"),
    ]
    assert late.frames == ("/opt/tern/train.py:71:main",)
    assert [other.type for other in late.cause_of] == ["ChildFailedError"]
    killed = next(line.number for line in read(TABLE) if "exitcode  : -15" in line.text)
    assert killed not in late.lines | key.lines


CAUGHT = """
Traceback (most recent call last):
  File "/opt/tern/store.py", line 20, in save
    self.write(state)
  File "/opt/tern/store.py", line 44, in write
    os.write(fd, block)
OSError: [Errno 28] No space left on device

{link}

Traceback (most recent call last):
  File "/opt/tern/train.py", line 90, in <module>
    store.save(state)
  File "/opt/tern/store.py", line {where}
    {code}
{then}
"""
DIRECT = "The above exception was the direct cause of the following exception:"
HANDLING = "During handling of the above exception, another exception occurred:"


@pytest.mark.parametrize(
    ("link", "where", "code", "then", "type_", "other"),
    [
        (
            DIRECT,
            "22, in save",
            "raise SaveError(p) from e",
            "SaveError: p",
            "OSError",
            "SaveError",
        ),
        (HANDLING, "22, in save", "raise SaveError(p)", "SaveError: p", "SaveError", "OSError"),
        (HANDLING, "22, in save", "raise SaveError", "SaveError", "OSError", "SaveError"),
        (HANDLING, "22, in save", "self.old[p]", "KeyError: 3", "OSError", "KeyError"),
        (HANDLING, "60, in retry", "raise Gone(p)", "Gone: 3", "OSError", "Gone"),
        (HANDLING, "61, in __exit__", "self.end()", "ValueError: torn", "OSError", "ValueError"),
    ],
    ids=["from", "in_better_words", "in_no_words", "handler_fails", "fallback", "clean_up"],
)
def test_a_chain_goes_back_to_its_origin_unless_the_handler_says_it_better(
    link, where, code, then, type_, other
):
    raised = the_one(CAUGHT.format(link=link, where=where, code=code, then=then))
    assert raised.type == type_
    assert [cause.type for cause in raised.cause_of] == [other]
    assert (raised.first.number, raised.last) == (1, 15)


READ_TWICE = """
Traceback (most recent call last):
  File "/opt/tern/rows.py", line 60, in table
    frame = pandas.read(file)
  File "/opt/pandas/json.py", line 9, in read
    return loads(text)
ValueError: Trailing data

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/tern/build.py", line 90, in build
    for rows in table(file):
  File "/opt/tern/rows.py", line 63, in table
    {again}
  File "/opt/tern/rows.py", line 40, in table
    return arrow.read(file)
  File "arrow/_json.pyx", line 30, in read
ArrowInvalid: row 311 changed its type
"""


@pytest.mark.parametrize(
    ("again", "type_"), [("raise e", "ArrowInvalid"), ("return other(file)", "ValueError")]
)
def test_what_a_handler_raises_again_after_a_second_try_is_the_origin(again, type_):
    assert the_one(READ_TWICE.format(again=again)).type == type_


LOOKED_UP = """
Traceback (most recent call last):
  File "/opt/tern/find.py", line 20, in {function}
    {code}
{first}: module 'models' has no attribute 'decoder'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/tern/train.py", line 9, in <module>
    model = locate(name)
  File "/opt/tern/find.py", line 23, in {function}
    return import_module(name)
  File "/opt/tern/models/decoder.py", line 88
    return self.norm(x
                    ^
SyntaxError: '(' was never closed
"""


@pytest.mark.parametrize(
    ("function", "code", "first", "type_"),
    [
        ("locate", "return getattr(module, name)", "AttributeError", "SyntaxError"),
        ("locate", "raise AttributeError(name)", "AttributeError", "AttributeError"),
        ("locate", "return module.read(name)", "ValueError", "ValueError"),
        ("main", "return getattr(module, name)", "AttributeError", "AttributeError"),
    ],
    ids=["a_question", "raised_on_purpose", "no_look_up", "the_whole_program"],
)
def test_a_look_up_that_is_caught_where_it_failed_is_no_origin(function, code, first, type_):
    assert the_one(LOOKED_UP.format(function=function, code=code, first=first)).type == type_


def test_an_exception_without_a_traceback_is_no_part_of_a_chain():
    log = READ_TWICE.format(again="raise e")
    strange = log.replace("occurred:\n", "occurred:\nCondaError: run conda init first\n")
    found = find_raised(read(strange))
    assert [r.type for r in found if r.kind == "uncaught"] == ["ArrowInvalid"]


def test_flow_control_is_no_origin():
    raised = the_one(
        """
Traceback (most recent call last):
  File "queue.py", line 3, in get
    raise Empty
_queue.Empty

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "loader.py", line 9, in next
    raise RuntimeError("worker 3 exited unexpectedly") from e
RuntimeError: worker 3 exited unexpectedly
"""
    )
    assert raised.message == "worker 3 exited unexpectedly"
    assert [other.type for other in raised.cause_of] == ["Empty"]


def test_a_compiler_that_failed_is_an_origin_though_its_class_is_that_of_launchers():
    raised = the_one(
        """
Traceback (most recent call last):
  File "/usr/lib/python3.11/subprocess.py", line 571, in run
    raise CalledProcessError(retcode, process.args)
subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/torch/utils/cpp_extension.py", line 9, in build
    raise RuntimeError(message) from e
RuntimeError: Error building extension 'fused_ops'
"""
    )
    assert (raised.type, raised.kind) == ("CalledProcessError", "uncaught")


LAUNCHER = """
Traceback (most recent call last):
  File "/usr/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
"""


@pytest.mark.parametrize(
    "said",
    [
        "torch.distributed.checkpoint.api.CheckpointException: "
        "CheckpointException ranks:dict_keys([3])",
        "ValueError: these shards are empty:",
    ],
)
def test_a_launchers_report_is_carried_by_nobody(said: str) -> None:
    own = f'Traceback (most recent call last):\n  File "save.py", line 9, in <module>\n{said}'
    first, report = find_raised(read(own + LAUNCHER))
    assert said.startswith(first.qualified)
    assert (first.kind, report.type, report.kind) == ("uncaught", "ChildFailedError", "reported")


def test_what_a_rank_tells_another_about_its_checkpoint_is_carried() -> None:
    raised = the_one(
        """
torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([3])
Traceback (most recent call last): (RANK 3)
  File "/opt/tern/io.py", line 61, in write
    file.write(block)
OSError: [Errno 28] No space left on device
"""
    )
    assert raised.type == "OSError"
