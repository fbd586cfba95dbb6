import re
import warnings

import hyperscan
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from app.rulebook.pattern import Pattern, PatternError, literal_weight, parse

LATIN1 = re2.Options()
LATIN1.encoding = re2.Options.Encoding.LATIN1
LATIN1.log_errors = False
# Vectorscan 5.4.12 overlooks a few short matches past the first 16 bytes of a chunk, where it
# reads many bytes at once: https://github.com/VectorCamp/vectorscan/issues/358
LARGEST_SAFE_LINE = 13


def facts(pattern: Pattern, line: bytes) -> dict[str, bytes | None] | None:
    """What RE2 finds on one line with the exact form."""
    found = re2.compile(pattern.exact.encode(), LATIN1).search(line)
    return found and {name: found[name.encode()] for name in pattern.groups}


def meets(pattern: Pattern, values: list[bytes]) -> list[bool]:
    """What Arrow's RE2 says of values that keep their line end."""
    return pc.match_substring_regex(pa.array(values, pa.binary()), pattern.line).to_pylist()


def scanned(pattern: Pattern, chunk: bytes) -> list[int]:
    """The lines of a chunk, counted from 0, at each end that Hyperscan reports."""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern.scan.encode()], ids=[0], flags=[hyperscan.HS_FLAG_MULTILINE]
    )
    ends: list[int] = []
    database.scan(chunk, match_event_handler=lambda _id, _start, end, *_: ends.append(end))
    return [chunk.count(b"\n", 0, end - 1) for end in ends]


# What an author may write, over few letters so that lines often match.
BYTES = [*"abA_1 -.\t\v\r\0", "\x80", "\xff"]
SETS = [*"aabAb_1 -", r"\.", ".", ".", r"\d", r"\w", r"\s", r"\S", r"\W", r"\D", "[ab]", "[^a]"]
SETS += [r"[^\s]", r"[\x80-\xff]", r"\x00", r"\r", r"\v", "[a-c_]", "(?i:a)", "(?-i:b)", "[^-1]"]
SETS += ["watchdog 1", "(?i:timed out)"]
EDGES = ["^", "$", r"\b", r"\B", r"\A", r"\Z"]
BEFORE = ["", "", "^", r"\b", r"\B", r"(?:^|\s)", r"^\s*", r"(?:\b|_)", ".*", "(?:^a|b)?"]
BEHIND = ["", "", "$", r"\b", r"\B", r"(?:$|\s)", r"\s*$", r"\S*\b", ".*$", ".+$", "(?:a|[^b]$)"]
COUNTS = ["*", "+", "?", "{2}", "{,2}", "{1,}", "{0,3}", "{2,3}", "*?", "+?", "??", "{1,2}?"]


def _grown(inner):
    framed = st.tuples(st.sampled_from(BEFORE), inner, st.sampled_from(BEHIND)).map("".join)
    several = st.lists(inner, min_size=1, max_size=4)
    return st.one_of(
        framed,
        framed,
        several.map("".join),
        several.map("".join),
        several.map("|".join).map("(?:{})".format),
        st.tuples(inner, st.sampled_from(COUNTS)).map(lambda pair: "(?:{}){}".format(*pair)),
        inner.map("(?P<@>{})".format),
        inner.map("({})".format),
    )


def _numbered(source):
    head, *rest = source.split("@")
    return head + "".join(f"g{number}{part}" for number, part in enumerate(rest))


bodies = st.recursive(st.sampled_from(SETS * 2 + EDGES), _grown, max_leaves=12)
sources = st.tuples(st.sampled_from(["", "", "(?i)"]), bodies).map("".join).map(_numbered)
texts = st.lists(st.sampled_from(BYTES), max_size=8).map("".join)
lines = st.lists(texts.map(lambda text: text.encode("latin-1")), min_size=3, max_size=6)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(sources, lines, st.data())
def test_three_engines_mean_what_re_means(source, lines, data):
    reference = re.compile(source.encode())
    try:
        pattern = parse(source)
    except PatternError as refusal:
        if "no line can match" in str(refusal):
            assert not any(reference.search(line) for line in lines)
        return
    made = st.from_regex(re.compile(source, re.ASCII), alphabet=st.characters(codec="latin-1"))
    lines = [*lines, data.draw(made).replace("\n", "").encode("latin-1")]
    for line in lines:
        found = reference.search(line)
        assert facts(pattern, line) == (found and found.groupdict()), line
    values = [line + end for line in lines for end in (b"", b"\n", b"\r\n")]
    bare = [value.removesuffix(b"\n").removesuffix(b"\r") for value in values]
    assert meets(pattern, values) == [reference.search(line) is not None for line in bare]
    scan = re2.compile(pattern.scan.encode(), LATIN1)
    for line in lines:
        if reference.search(line):
            assert scan.search(b"[rank1]:x" + line + b"\r"), line
        short = line[:LARGEST_SAFE_LINE]
        if reference.search(short):
            assert scanned(pattern, b"\n" + short + b"\n") != [], short


@pytest.mark.parametrize(
    ("source", "position", "advice"),
    [
        ("error(?= 5)", 6, "into the pattern itself"),
        ("error(?! 0)", 6, "`unless:`"),
        ("(?<=GPU )0", 1, "into the pattern itself"),
        (r"[(](?<!no )fault", 4, "`unless:`"),
        (r"(\w+) = \1", 9, "write the repeated text out"),
        (r"(?P<a>x)(?P=a)", 9, "write the repeated text out"),
        ("lost++", 5, "leave out the last `+`"),
        ("lost{2}+", 5, "leave out the last `+`"),
        ("(?>lost)", 1, "write `(?:`"),
        ("(a)?(?(1)b|c)", 5, "write both cases with `|`"),
        ("(?x) lost", 1, "on one line"),
        ("(?s-x:lost)", 1, "on one line"),
        ("(?<rank>x)", 1, "`(?P<name>…)`"),
        ("(?P<größe>x)", 1, "in ASCII"),
        ("one\ntwo", 4, "one line"),
        (r"one\ntwo", 4, "one line"),
        (r"\u2588x", 1, "write the character itself"),
        (r"x\zy", 2, "bad escape"),
        ("x{1001}", 2, "use `*` or `+`"),
        ("x{2,5000}", 2, "use `*` or `+`"),
        ("x{99999999999}", 2, "use `*` or `+`"),
        ("a(b", 2, r"write `\(`"),
        ("a)b", 2, r"write `\)`"),
        ("é[a", 2, r"write `\[`"),
        ("*a", 1, r"write `\` before it"),
        ("a**", 3, "put `(?:` `)` round the first"),
        ("a(?i)b", 2, "put `(?i:` `)` round the part"),
        ("x[^é]", 2, r"`[^\x80-\xff]`"),
    ],
)
def test_a_refusal_says_where_and_what_to_write_instead(source, position, advice):
    with pytest.raises(PatternError, match=f"^at character {position}: ") as refusal:
        parse(source)
    assert advice in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("", "make a part obligatory"),
        ("a*", "make a part obligatory"),
        (r"\bfoo\b|\b", "make a part obligatory"),
        ("^$", "make a part obligatory"),
        (".", "add a word"),
        (r"^.{3,}$", "add a word"),
        (r"\S+ ?", "add a word"),
        ("foo|[^x]+", "add a word"),
        ("$a", "as in `$a`"),
        ("a^", "as in `$a`"),
        (r"lost\bGPU", "as in `$a`"),
        (r"a(?:a|.$)\ba", "as in `$a`"),
        (r"a\b\B", "as in `$a`"),
        (r"[\n]x", "leave it out"),
        (r"x\x0a", "leave it out"),
        (r"[^\s\S]x", "leave it out"),
        ("[а-я]+x", "one by one"),
        ("(?:x{40}){30}", "say the inner ones once"),
        ("(?:(?:(?:(?:(?:(?:x)*y)*)*)*)*)*z", "say the inner ones once"),
        ("(?:.{0,1000}x){40}", "use `*` or `+`"),
        (r"(?:a|\b)+x", "make it read a character"),
        ("(?:^a|b)+x", "move it out"),
        ("x" + r"(?:a|\b)" * 21, "use `.*` or `|`"),
        (r"\W" * 1200 + "a", "split it into several rules"),
        ("a" * 4097, "split it into several rules"),
        ("(?:" * 600 + "a" + "b)" * 600, "leave out groups"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_refused_with_advice(source, advice):
    with pytest.raises(PatternError) as refusal:
        parse(source)
    assert advice in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "met", "missed"),
    [
        ("a{,3}b", [b"b", b"aab"], [b"a{,3}c"]),
        ("x{2}{y", [b"xx{y"], [b"x{y"]),
        ("[[:alpha:]]x", [b"a]x", b":]x"], [b"ax", b"zx"]),
        (r"a\sb", [b"a\vb", b"a\rb"], [b"a\0b", b"a\xa0b"]),
        (r"a.b", [b"a\xffb", b"a\0b", b"a\rb"], [b"ab"]),
        (r"a[^x]b", [b"a\x80b"], [b"axb"]),
        (r"a\Wb", [b"a\xe9b"], [b"a_b"]),
        (r"end$", [b"the end"], [b"end.", b"end "]),
        (r"end\Z", [b"the end"], [b"end "]),
        (r"end.", [b"ends", b"end\rx"], [b"end"]),
        (r"end.$", [b"end.", b"end\v"], [b"end", b"end.."]),
        (r"end\s*$", [b"end", b"end \t", b"end\r\r"], [b"ends"]),
        (r"(?:^|\s)foo(?:$|\s)", [b"foo", b"a foo", b"foo b"], [b"xfoo", b"foo:", b"foox"]),
        ("(?ms)^a.b$", [b"a b"], [b" a b", b"a b "]),
        (r"\x41\101\0", [b"AA\0"], [b"AA"]),
        (r"(?i)fatal\x21", [b"FaTaL!"], [b"fatal"]),
        ("(?i:fatal) error", [b"FATAL error"], [b"FATAL ERROR"]),
        ("é+t", ["été".encode(), "éét".encode()], [b"t", b"\xa9t"]),
        ("[█▏a]x", ["█x".encode(), "▏x".encode(), b"ax"], ["▎x".encode(), b"\x88x"]),
        ("é|à", ["é".encode(), "à".encode()], [b"\xe9", b"\xc3"]),
        (r"\xe9", [b"\xe9", "驀".encode()], ["é".encode()]),
        ("(?#why)lost", [b"lost"], [b"why"]),
        ("[]x]y", [b"]y"], [b"[y"]),
        (r"[\]\\^-]y", [b"]y", b"\\y", b"^y", b"-y"], [b"[y"]),
    ],
)
def test_all_engines_agree_on_what_each_reads_in_its_own_way(source, met, missed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pattern = parse(source)
    lines = met + missed
    expected = [True] * len(met) + [False] * len(missed)
    assert [facts(pattern, line) is not None for line in lines] == expected
    for end in (b"", b"\n", b"\r\n"):
        assert meets(pattern, [line + end for line in lines]) == expected
    assert set(range(len(met))) <= set(scanned(pattern, b"\n".join(lines)))


@pytest.mark.parametrize(
    ("source", "scan"),
    [
        (r"^\s*(?:\[rank\d+\]: )?lost GPU \d+.*$", r"lost GPU \d"),
        (r"\blost\b", "lost"),
        (r"(?:^|\s)lost(?:$|[\s:])", "lost"),
        (r"(?:^|\s)(?:lost|gone) +", "(?:lost|gone) "),
        (r"\d{2,}%", r"\d{2}%"),
        (r"(?:\bGPU |NIC )\d+ lost", r"(?:GPU |NIC )\d+ lost"),
        (r"GPU\b.\bxid", r"GPU\b.\bxid"),
        ("lost|lost GPU", "lost"),
        ("(?P<gpu>[0-9]+?) lost", r"\d lost"),
        (r"a.{0,200}\d{40}c", r"a.*\d{16,}c"),
    ],
)
def test_the_scan_form_looks_only_for_what_cannot_be_left_out(source, scan):
    assert parse(source).scan == scan


def test_a_long_run_of_digits_is_reported_once():
    assert scanned(parse(r"step=\d+"), b"step=1234567\nstep=1\n") == [0, 1]


def test_the_scan_form_never_reads_past_the_end_of_a_line():
    pattern = parse(r"lost[^:]+[\s\S]*\WGPU\D$")
    assert scanned(pattern, b"lost a\nthe GPU\n") == []
    assert scanned(pattern, b"lost a GPU.\n") == [0]


def test_the_scan_form_meets_what_stands_behind_a_prefix():
    pattern = parse("^lost GPU$")
    assert scanned(pattern, b"ok\n2026-03-03 04:12 [rank3]:lost GPU\r\n") == [1]
    assert meets(pattern, [b"[rank3]:lost GPU\n", b"lost GPU\r\n"]) == [False, True]


def test_line_forms_can_be_joined_by_a_bar():
    union = "|".join(parse(source).line for source in ("^a|b$", "c d?", "(?i)^e$"))
    values = [b"ax\n", b"xb\r\n", b"xa\n", b"c \n", b"E\n", b"e.\n"]
    found = pc.match_substring_regex(pa.array(values, pa.binary()), union).to_pylist()
    assert found == [True, True, False, True, True, False]


@pytest.mark.parametrize(
    ("source", "line", "found"),
    [
        ("(?P<key>.*?)=(?P<value>.*)", b"a=b=c", {"key": b"a", "value": b"b=c"}),
        ("(?P<key>.*)=(?P<value>.*?)", b"a=b=c", {"key": b"a=b", "value": b""}),
        (r"rank (?P<rank>\d+?)(?:/(?P<of>\d+))?$", b"rank 3", {"rank": b"3", "of": None}),
        (
            "(?P<first>lost|lost GPU) ?(?P<rest>.*)",
            b"lost GPU 3",
            {"first": b"lost", "rest": b"GPU 3"},
        ),
        ("(?:(?P<last>[a-z]) ?)+:", b"a b c:", {"last": b"c"}),
        ("(é+) (?P<name>ü?)", "éé ü".encode(), {"name": "ü".encode()}),
    ],
)
def test_named_groups_take_what_they_take_in_re(source, line, found):
    pattern = parse(source)
    assert pattern.groups == tuple(found)
    assert facts(pattern, line) == found


def test_case_can_be_ignored_from_outside():
    pattern = parse("Fatal [a-c]", ignore_case=True)
    assert facts(pattern, b"fATAL B") == {}
    assert facts(parse("Fatal [a-c]"), b"fATAL B") is None
    assert pattern.source == "Fatal [a-c]"


@pytest.mark.parametrize(
    ("source", "anchored"),
    [
        ("^lost", True),
        (r"\Alost|^gone", True),
        (r"(?:^|\s)lost", False),
        (r"\s*^lost", True),
        ("^lost|gone", False),
        ("^.*lost", False),
        ("(?:^ )?lost", False),
    ],
)
def test_a_pattern_is_anchored_if_every_match_begins_with_the_line(source, anchored):
    assert parse(source).anchored == anchored


@pytest.mark.parametrize(
    ("source", "weight"),
    [
        ("lost", 4),
        ("(?i)lost é", 6),
        (r"\[rank\d+\]", 6),
        ("lost|gone away", 4),
        ("(?:ab){3}c?d*", 6),
        (r"^\s*[45]\d\d\b", 0),
        ("[Ll]ost [gG]", 6),
    ],
)
def test_the_weight_counts_the_letters_that_no_match_lacks(source, weight):
    assert literal_weight(parse(source)) == weight


@pytest.mark.parametrize(
    "source",
    [
        "a.{1,1000}b",
        "(?:ab|c.{1,300}){3}x",
        "(?:a|bc|def.{20}){40}",
        "(?:[ab].{0,30}){30}c",
        "[ab].{3,16}" * 150 + "c",
        "(?i)" + "abcdefgh " * 440,
        "(?:(?:a|ab|abc)*)*x",
        "(.*)(.*)(.*)(.*)(.*)x",
        r"(?:y\s?)?" * 9 + r"x(?:z\s?)?" * 9 + "$",
        "|".join(f"word{number}" for number in range(400)),
    ],
)
def test_large_patterns_fit_into_every_engine(source):
    pattern = parse(source)
    assert facts(pattern, b"-") is None
    assert meets(pattern, [b"-\r\n"]) == [False]
    assert scanned(pattern, b"-\n") == []
