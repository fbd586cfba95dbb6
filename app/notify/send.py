"""Send a message to a listener, once: signed, to the address that was checked, in bounded time."""

from datetime import UTC, datetime

import httpx2
from standardwebhooks import Webhook

from app.errors import NotDelivered
from app.notify.guard import Target

_SECONDS = 15.0  # the timeout that the Standard Webhooks specification names
_MOST_ANSWER = 200  # characters of a refusal that are kept


async def send(target: Target, body: str, *, id: str, secret: str | None) -> None:
    """Post a message; raise NotDelivered, which says whether a later try makes sense."""
    url = httpx2.URL(target.url).copy_with(host=target.address)
    request_headers = {
        "Host": httpx2.URL(target.url).netloc.decode("ascii"),
        "Content-Type": "application/json",
        "User-Agent": "firstfault",
        **(_signature(secret, id, body) if secret else {}),
    }
    try:
        async with httpx2.AsyncClient(
            timeout=_SECONDS, follow_redirects=False, trust_env=False
        ) as client:
            answer = await client.post(
                url,
                content=body.encode(),
                headers=request_headers,
                extensions={"sni_hostname": target.host},
            )
    except httpx2.HTTPError as error:
        raise NotDelivered(f"{type(error).__name__}: {error}") from error
    if not answer.is_success:
        said = answer.text[:_MOST_ANSWER].replace("\0", "")
        gone = answer.status_code == 410  # the specification's word for: never again
        raise NotDelivered(f"HTTP {answer.status_code}: {said}", final=gone)


def _signature(secret: str, id: str, body: str) -> dict[str, str]:
    at = datetime.now(UTC)
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, at, body),
    }
