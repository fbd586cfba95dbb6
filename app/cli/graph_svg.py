"""Draw who explains whom as one SVG that needs nothing else: no script, no font, no file.

It brings its own paper, in a light and a dark set of colours, so that it can be read on any page.
Whoever points at a box sees the edges that leave it alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from app.cli.graph_layout import COLUMN, HEIGHT, MARGIN, ROW, WIDTH, Box, Edge, boxes_of, edges_of
from app.rulebook.rulebook import Rulebook

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1c2430 }
.paper { fill: #ffffff }
.box { fill: #eef2f7; stroke: #8a97a8 }
.domain .box { fill: #d9e4f2; stroke: #4c6a92 }
.domain text { font-weight: 600 }
.edge { fill: none; stroke: #33679e; stroke-opacity: .55; stroke-width: 1.2 }
.if_earlier { stroke: #9a5b13; stroke-dasharray: 5 4 }
.tip { fill: #33679e } .tip.if_earlier { fill: #9a5b13; stroke: none }
svg:has(.from:hover) .from:not(:hover) .edge { stroke-opacity: .1 }
.from:hover .edge { stroke-opacity: 1; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #e3e9f1 }
  .paper { fill: #12161c }
  .box { fill: #212935; stroke: #5f6d80 }
  .domain .box { fill: #24364f; stroke: #7fa3d1 }
  .edge { stroke: #7db4ee; stroke-opacity: .7 } .tip { fill: #7db4ee }
  .if_earlier { stroke: #e0a45c } .tip.if_earlier { fill: #e0a45c }
}
"""
_LEGEND = 54  # pixels below the drawing
_PORTS = HEIGHT - 8  # of the height of a box, where edges leave and arrive
_LANES = (ROW - HEIGHT) - 6  # of a gap between two boxes, where edges pass
_HEAD = 6  # length of an arrow's head
_SCOPES = {
    "job": "in the whole job",
    "same_rank": "on the same rank",
    "same_host": "on the same host",
    "other_ranks": "on other ranks",
}
_Point = tuple[float, float]


def drawn(book: Rulebook) -> str:
    """Draw the causes and their edges; hundreds of causes are still drawn, if not prettily."""
    edges = edges_of(book)
    boxes = boxes_of(book, edges)
    width = MARGIN + max(box.x for box in boxes.values()) + WIDTH + COLUMN // 4
    height = max(box.y for box in boxes.values()) + HEIGHT + _LEGEND
    picture = Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}",
        width=str(width), height=str(height), role="img",
    )  # fmt: skip
    SubElement(picture, "title").text = "Which cause explains which"
    SubElement(picture, "style").text = _STYLE
    SubElement(picture, "rect", {"class": "paper", "width": "100%", "height": "100%"})
    _draw_edges(picture, book, edges, boxes)
    _draw_legend(picture, height - _LEGEND / 2)
    return tostring(picture, encoding="unicode") + "\n"


def _draw_edges(
    picture: Element, book: Rulebook, edges: Sequence[Edge], boxes: Mapping[str, Box]
) -> None:
    """Draw a group for each box with what leaves it; a box is drawn over all edges behind it."""
    ways = _ways(edges, boxes)
    groups = {
        name: SubElement(picture, "g", {"class": f"from{' domain' if box.is_domain else ''}"})
        for name, box in boxes.items()
    }
    for edge, way in zip(edges, ways, strict=True):
        line = SubElement(
            groups[edge.source], "path", {"class": f"edge {edge.kind}", "d": _curve(way)}
        )
        SubElement(line, "title").text = _told(edge, boxes)
        _draw_head(groups[edge.source], edge, way)
    for name, box in boxes.items():
        _draw_box(groups[name], box, _about(name, book))


def _about(name: str, book: Rulebook) -> str:
    form = book.causes.get(name) or book.domains.get(name)
    return form.title if form else name


def _told(edge: Edge, boxes: Mapping[str, Box]) -> str:
    who = f"Any cause of {edge.source}" if boxes[edge.source].is_domain else edge.source
    when = "" if edge.kind == "always" else ", if it came earlier"
    return f"{who} explains {edge.target} {_SCOPES[edge.scope]}{when}"


def _draw_box(group: Element, box: Box, about: str) -> None:
    shape = {"class": "box", "x": str(box.x), "y": str(box.y), "rx": "5"}
    rect = SubElement(group, "rect", {**shape, "width": str(WIDTH), "height": str(HEIGHT)})
    SubElement(rect, "title").text = about
    place = {"x": str(box.x + WIDTH // 2), "y": str(box.y + HEIGHT // 2 + 5)}
    label = SubElement(group, "text", {**place, "text-anchor": "middle"})
    label.text = box.name
    SubElement(label, "title").text = about


def _draw_head(group: Element, edge: Edge, way: Sequence[_Point]) -> None:
    x, y = way[-1]
    back = _HEAD if way[-2][0] > x or (len(way) == 2 and way[0][0] == x) else -_HEAD
    points = f"{x},{y} {x + back},{y - _HEAD / 2} {x + back},{y + _HEAD / 2}"
    SubElement(group, "polygon", {"class": f"tip {edge.kind}", "points": points})


def _ways(edges: Sequence[Edge], boxes: Mapping[str, Box]) -> list[list[_Point]]:
    """Give the points of each edge: where it leaves, the gaps that it passes, where it arrives."""
    ends = [_ports(edge, boxes) for edge in edges]
    spread = _spread(
        (((box.name, side), other.y, index, end)
        for index, (edge, sides) in enumerate(zip(edges, ends, strict=True))
        for end, (box, side, other) in enumerate(
            ((boxes[edge.source], sides[0], boxes[edge.target]),
             (boxes[edge.target], sides[1], boxes[edge.source])))),
        _PORTS,
    )  # fmt: skip
    lanes = _spread(
        (
            ((column, _gap(edge, column, boxes)), boxes[edge.target].y, index, column)
            for index, edge in enumerate(edges)
            for column in _passed(edge, boxes)
        ),
        _LANES,
    )
    return [
        _way(index, edge, boxes, ends[index], spread, lanes) for index, edge in enumerate(edges)
    ]


def _way(
    index: int,
    edge: Edge,
    boxes: Mapping[str, Box],
    sides: tuple[int, int],
    spread: Mapping[tuple[int, int], float],
    lanes: Mapping[tuple[int, int], float],
) -> list[_Point]:
    source, target = boxes[edge.source], boxes[edge.target]
    middle = HEIGHT / 2
    way: list[_Point] = [(source.x + sides[0] * WIDTH, source.y + middle + spread[index, 0])]
    for column in _passed(edge, boxes):
        left = MARGIN + column * COLUMN
        y = _gap(edge, column, boxes) * ROW + MARGIN - (ROW - HEIGHT) / 2 + lanes[index, column]
        across = [(left - 10.0, y), (left + WIDTH + 10.0, y)]
        way += across if source.column < target.column else across[::-1]
    way.append((target.x + sides[1] * WIDTH, target.y + middle + spread[index, 1]))
    return way


def _ports(edge: Edge, boxes: Mapping[str, Box]) -> tuple[int, int]:
    """Say on which side an edge leaves and arrives: 0 left, 1 right."""
    source, target = boxes[edge.source].column, boxes[edge.target].column
    return (1, 1) if source == target else (1, 0) if source < target else (0, 1)


def _passed(edge: Edge, boxes: Mapping[str, Box]) -> list[int]:
    source, target = boxes[edge.source].column, boxes[edge.target].column
    step = 1 if target > source else -1
    return list(range(source + step, target, step)) if source != target else []


def _gap(edge: Edge, column: int, boxes: Mapping[str, Box]) -> int:
    """Give the row above which an edge passes a column: the one nearest to a straight line."""
    source, target = boxes[edge.source], boxes[edge.target]
    share = (column - source.column) / (target.column - source.column)
    return round(source.row + share * (target.row - source.row) + 0.5)


def _spread(
    wanted: Iterable[tuple[tuple[object, int], int, int, int]], room: float
) -> dict[tuple[int, int], float]:
    """Spread edges that share a place over its room, in the order of where they lead."""
    shared: dict[tuple[object, int], list[tuple[int, int, int]]] = defaultdict(list)
    for place, towards, index, end in wanted:
        shared[place].append((towards, index, end))
    return {
        (index, end): (order + 1) / (len(own) + 1) * room - room / 2
        for own in shared.values()
        for order, (_, index, end) in enumerate(sorted(own))
    }


def _curve(way: Sequence[_Point]) -> str:
    """Join points by curves that leave and arrive level; a way back to one side is an arc."""
    (x, y), *others = way
    told = [f"M{x:.1f} {y:.1f}"]
    for end_x, end_y in others:
        if end_x == x:
            out = x + 24 + abs(end_y - y) / 5
            told.append(f"C{out:.1f} {y:.1f} {out:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}")
        else:
            mid = (x + end_x) / 2
            told.append(f"C{mid:.1f} {y:.1f} {mid:.1f} {end_y:.1f} {end_x:.1f} {end_y:.1f}")
        x, y = end_x, end_y
    return "".join(told)


def _draw_legend(picture: Element, y: float) -> None:
    x = float(MARGIN)
    for kind, words in (
        ("always", "explains, in any order of lines"),
        ("if_earlier", "explains what comes later"),
    ):
        SubElement(picture, "path", {"class": f"edge {kind}", "d": f"M{x} {y}h40"})
        SubElement(picture, "text", x=str(x + 48), y=str(y + 5)).text = words
        x += 290
    SubElement(
        picture, "text", x=str(x), y=str(y + 5)
    ).text = "A domain explains for all its causes. Point at a box to see its own edges."
