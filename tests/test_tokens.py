import pytest

from app.tokens import bearer, parse

SECRET = "a-secret-of-enough-length"


def test_a_token_is_read_and_does_not_print_its_secret():
    token = parse(f"ci:submit+read:{SECRET}")
    assert (token.name, token.scopes, token.secret) == ("ci", {"submit", "read"}, SECRET)
    assert SECRET not in repr(token)


def test_admin_may_do_all_and_others_what_they_are_given():
    assert parse(f"ops:admin:{SECRET}").may("feedback")
    assert not parse(f"ci:submit:{SECRET}").may("read")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("nonsense", "form"),
        (":read:" + SECRET, "form"),
        ("ci:write:" + SECRET, "unknown scope 'write'"),
        ("ci:read:short", "at least 16"),
        ("ci:read", "form"),
        ("ci::" + SECRET, "unknown scope"),
    ],
)
def test_what_is_no_token_is_refused_without_telling_its_secret(text, word):
    with pytest.raises(ValueError, match=word) as refused:
        parse(text)
    assert SECRET not in str(refused.value)


def test_the_bearer_is_found_by_the_whole_secret():
    one, two = parse(f"one:read:{SECRET}1"), parse(f"two:read:{SECRET}2")
    assert bearer((one, two), f"{SECRET}2") is two
    assert bearer((one, two), SECRET) is None
    assert bearer((one, two), "\udcff") is None
