"""Join what is told of one place in parts: a line has its host, another one its rank or its GPU."""

from collections.abc import Iterable

from app.located import Suspect, pci_address


def merged(places: Iterable[Suspect]) -> list[Suspect]:
    """Join what is known of one place: a host without a rank, a rank whose host comes later."""
    found: list[Suspect] = []
    for place in places:
        for index, known in enumerate(found):
            if _may_be_same(known, place):
                found[index] = Suspect(
                    known.host or place.host,
                    place.rank if known.rank is None else known.rank,
                    known.gpu or place.gpu,
                    known.nic or place.nic,
                    known.why,
                )
                break
        else:
            found.append(place)
    return found


def _may_be_same(one: Suspect, other: Suspect) -> bool:
    pairs = (
        (one.host, other.host),
        (one.rank, other.rank),
        (_device(one.gpu), _device(other.gpu)),
    )
    agreed = [a == b for a, b in pairs if a is not None and b is not None]
    return all(agreed) and (bool(agreed) or one.host is None or other.host is None)


def _device(gpu: str | None) -> str | int | None:
    """Give one name to `0000:43:00`, as drivers say, and to `0000:43:00.0`, as the bus does."""
    address = pci_address(gpu or "")
    return gpu if address is None else address
