from app.incident import Snippet
from app.memory.words import Words, words


def known(*texts):
    found = Words()
    for number, text in enumerate(texts):
        found.add(str(number), Snippet(tuple(text.split("\n"))))
    return found


def ids(words, text, most=10):
    return [id for id, _ in words.nearest(Snippet((text,)), most)]


def test_a_rare_word_counts_more_than_a_common_one():
    words = known("error in shard", "error in loader", "error flux", "error in socket")
    assert ids(words, "error flux")[0] == "2"


def test_parts_of_a_name_are_found_and_letters_case_does_not_matter():
    words = known("torch.OutOfMemoryError: boom", "KeyError: labels")
    assert ids(words, "out of MEMORY") == ["0"]
    assert ids(words, "outofmemoryerror") == ["0"]


def test_the_first_line_counts_most():
    words = known("loader died\ntimeout", "timeout\nloader died")
    assert ids(words, "loader died")[0] == "0"


def test_what_shares_no_word_is_not_found_and_an_empty_memory_is_silent():
    assert ids(known("a b c"), "xyz") == []
    assert ids(known(), "a") == []


def test_one_that_is_known_is_not_counted_twice():
    words = known("loader died")
    words.add("0", Snippet(("another text",)))
    assert (len(words), "0" in words) == (1, True)
    assert ids(words, "another") == []


def test_a_word_of_a_hundred_thousand_letters_is_read_at_once():
    long = "a" * 100_000
    assert list(words([long])) == [long]
    assert list(words([f"{long}B"])) == [long, "b", f"{long}b"]
    assert list(words([f"{long}_b"])) == [long, "b", f"{long}_b"]
