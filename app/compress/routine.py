"""Which filter takes how many lines away, told from a sample."""

from app.rulebook.compiled import Compiled

_NO_DIGITS = {ord(digit): "0" for digit in "123456789"}


class RoutineShares:
    """Counts the dropped lines of a sample for their filters."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._filters = [
            (rule.name, source)
            for rule in compiled.rulebook.filters
            if rule.do == "drop" and rule.status == "stable"
            for source in rule.match
        ]
        self._filters += [(routine.name, routine.match) for routine in compiled.written]
        self._of_shape: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def count(self, raw: bytes) -> None:
        """Count one dropped line for its filter; lines of one shape are asked about once."""
        text = raw[:512].decode("utf-8", "replace").rstrip("\r\n")
        shape = text[:48].translate(_NO_DIGITS)
        name = self._of_shape.get(shape)
        if name is None:
            name = next((n for n, s in self._filters if self._compiled.holds(s, text)), "other")
            if len(self._of_shape) < 2000:
                self._of_shape[shape] = name
        self._counts[name] = self._counts.get(name, 0) + 1

    def shares_of(self, dropped: int) -> dict[str, int]:
        """Scale the sample up to all dropped lines."""
        sample = sum(self._counts.values())
        return {
            name: round(count * dropped / sample)
            for name, count in sorted(self._counts.items(), key=lambda item: -item[1])
        }
