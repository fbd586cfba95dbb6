import os

import pytest

from app.errors import OutsideRoots, SourceError, SourceNotFound, UsageError
from app.work.roots import LogRoots


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    (folder / "job 7").mkdir(parents=True)
    (folder / "a.log").write_text("a line")
    (folder / "job 7" / "rank0.log").write_text("a line")
    (tmp_path / "secret").write_text("a password")
    return folder


@pytest.fixture
def roots(logs):
    return LogRoots([logs])


def test_a_file_below_a_root_is_found(roots, logs):
    assert roots.place(f"file://{logs}/a.log") == logs / "a.log"
    assert roots.place(f"file://localhost{logs}/a.log") == logs / "a.log"


def test_a_folder_and_an_escaped_name_are_found(roots, logs):
    assert roots.place(f"file://{logs}/job%207") == logs / "job 7"


def test_without_roots_the_refusal_names_the_setting(logs):
    with pytest.raises(OutsideRoots, match="FIRSTFAULT_LOG_ROOTS") as caught:
        LogRoots([]).place(f"file://{logs}/a.log")
    assert caught.value.status == 403


@pytest.mark.parametrize("path", ["/../secret", "/%2e%2e/secret", "/job%207/../../secret", "2/x"])
def test_a_way_out_of_the_root_is_refused(roots, logs, path):
    with pytest.raises(OutsideRoots):
        roots.place(f"file://{logs}{path}")


def test_a_link_out_of_the_root_is_refused_and_one_within_is_followed(roots, logs, tmp_path):
    (logs / "out.log").symlink_to(tmp_path / "secret")
    (logs / "in.log").symlink_to(logs / "a.log")
    with pytest.raises(OutsideRoots):
        roots.place(f"file://{logs}/out.log")
    assert roots.place(f"file://{logs}/in.log") == logs / "a.log"


def test_a_folder_that_holds_a_link_out_is_refused(roots, logs, tmp_path):
    (logs / "job 7" / "rank1.log").symlink_to(tmp_path / "secret")
    with pytest.raises(OutsideRoots, match="rank1.log"):
        roots.place(f"file://{logs}/job%207")


def test_a_root_may_itself_be_a_link(logs, tmp_path):
    (tmp_path / "link").symlink_to(logs)
    roots = LogRoots([tmp_path / "link"])
    assert roots.place(f"file://{tmp_path}/link/a.log") == logs / "a.log"


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "a.log",
        "http://x/a",
        "file://host/a",
        "file:a",
        "file:///a?b",
        "file:///%00",
    ],
)
def test_what_is_no_file_uri_is_a_usage_error(roots, uri):
    with pytest.raises(UsageError, match="file:///"):
        roots.place(uri)


def test_a_missing_file_and_a_pipe_are_told_apart(roots, logs):
    os.mkfifo(logs / "pipe")
    with pytest.raises(SourceNotFound):
        roots.place(f"file://{logs}/gone.log")
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        roots.place(f"file://{logs}/pipe")
