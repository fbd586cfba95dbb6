"""The rulebook: all that is known about logs, as one value."""

from collections.abc import Mapping
from functools import cached_property

from app.rulebook.cause import Cause, DomainForm, Explains
from app.rulebook.form import Form
from app.rulebook.lines import BenignForm, Filter, MarkForm
from app.rulebook.pattern import Pattern
from app.rulebook.relation import Relation, build
from app.rulebook.signal import Signal

OUTCOMES = {"Completed": "The job finished", "Unknown": "The log does not say why the job ended"}


class Rulebook(Form):
    """Causes, signals, benign lines, filters and marks, with the canonical form of each regex."""

    fingerprint: str
    domains: Mapping[str, DomainForm]
    causes: Mapping[str, Cause]
    signals: tuple[Signal, ...]
    benign: tuple[BenignForm, ...]
    filters: tuple[Filter, ...]
    marks: tuple[MarkForm, ...]
    patterns: Mapping[str, Pattern]

    @cached_property
    def signal_named(self) -> Mapping[str, Signal]:
        """All signals by name."""
        return {signal.name: signal for signal in self.signals}

    @cached_property
    def relation(self) -> Relation:
        """Who explains whom."""
        return build(self.edges, {signal.name: signal.cause for signal in self.signals})

    @cached_property
    def edges(self) -> Mapping[str, Explains]:
        """What each cause (with what its domain gives it) and each signal explains itself."""
        edges = {
            cause.name: joined(cause.explains, self.domains.get(cause.domain), cause.name)
            for cause in self.causes.values()
        }
        return edges | {signal.name: signal.explains for signal in self.signals}


def joined(own: Explains, domain: DomainForm | None, cause: str) -> Explains:
    """Add the domain's edges to a cause's own, except those that the cause states itself."""
    if domain is None:
        return own
    said = {edge.of for _, _, edge in own.edges()} | {cause}
    shared = domain.explains
    return Explains(
        always=own.always + tuple(edge for edge in shared.always if edge.of not in said),
        if_earlier=own.if_earlier + tuple(e for e in shared.if_earlier if e.of not in said),
    )
