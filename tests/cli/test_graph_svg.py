"""The drawing of who explains whom."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.cli.graph_layout import HEIGHT, WIDTH, boxes_of, edges_of
from app.cli.graph_svg import drawn
from app.rulebook.compiled import Compiled
from app.rulebook.rulebook import Rulebook
from tests.cli.running import Command

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def book(compiled: Compiled) -> Rulebook:
    return compiled.rulebook


@pytest.fixture(scope="module")
def picture(book: Rulebook) -> ElementTree.Element:
    return ElementTree.fromstring(drawn(book))


def _paths(picture: ElementTree.Element, kind: str) -> list[str]:
    told = [path for path in picture.iter(f"{_SVG}path") if path.get("class") == f"edge {kind}"]
    return [title.text or "" for path in told for title in path.iter(f"{_SVG}title")]


def test_every_cause_and_domain_is_drawn_once_with_its_title(
    picture: ElementTree.Element, book: Rulebook
) -> None:
    labels = [text for text in picture.iter(f"{_SVG}text") if text.get("text-anchor")]
    names = [label.text for label in labels]
    assert sorted(names) == sorted([*book.causes, *book.domains])
    titles = {label.text: label.findtext(f"{_SVG}title") for label in labels}
    assert titles["NVLinkError"] == book.causes["NVLinkError"].title


def test_no_box_lies_on_another_or_outside(picture: ElementTree.Element, book: Rulebook) -> None:
    boxes = boxes_of(book, edges_of(book)).values()
    places = {(box.x, box.y) for box in boxes}
    assert len(places) == len(boxes)
    width, height = int(picture.get("width", 0)), int(picture.get("height", 0))
    assert all(x + WIDTH <= width and y + HEIGHT <= height for x, y in places)


def test_edges_tell_in_words_what_they_say(picture: ElementTree.Element) -> None:
    always, earlier = _paths(picture, "always"), _paths(picture, "if_earlier")
    assert "NVLinkError explains CUDAError in the whole job" in always
    assert (
        "Any cause of script explains NCCLTimeoutError in the whole job, if it came earlier"
        in earlier
    )
    assert len(always) + len(earlier) < 200, "or nobody can follow one"


def test_what_follows_from_a_chain_is_left_out(book: Rulebook) -> None:
    edges = {(edge.source, edge.target) for edge in edges_of(book) if edge.kind == "always"}
    for source, target in edges:
        others = {b for a, b in edges if a == source and b != target}
        assert not any((other, target) in edges for other in others)


def test_the_drawing_needs_nothing_but_itself(book: Rulebook) -> None:
    text = drawn(book)
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert "prefers-color-scheme: dark" in text
    for forbidden in ("<script", "<image", "href", "url(", "@import"):
        assert forbidden not in text


def test_the_same_rules_give_the_same_drawing(book: Rulebook) -> None:
    assert drawn(book) == drawn(book)


def test_the_command_writes_a_file(firstfault: Command, tmp_path: Path) -> None:
    file = tmp_path / "graph.svg"
    told = firstfault("rules", "graph", "--svg", file)
    assert (told.status, told.out) == (0, "")
    assert ElementTree.parse(file).getroot().tag == f"{_SVG}svg"
    assert "cannot be written" in firstfault.refused("rules", "graph", "--svg", tmp_path)
