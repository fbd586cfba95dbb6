"""Check the signature of a webhook, after the Standard Webhooks specification.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
The clock of the sender may be five minutes off, as the specification's libraries have it.
"""

from collections.abc import Mapping, Sequence

from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from app.errors import Unsigned

_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_MOST_ID = 256


def check(secrets: Sequence[SecretStr], headers: Mapping[str, str], body: bytes) -> str:
    """Give the webhook-id of a message that one of the secrets has signed; raise Unsigned."""
    if not secrets:
        raise Unsigned(
            "reports of job exits are not accepted: FIRSTFAULT_WEBHOOK_SECRETS names no secret "
            '(make one: python -c "import base64,secrets; '
            "print('whsec_'+base64.b64encode(secrets.token_bytes(24)).decode())\")"
        )
    if missing := [name for name in _HEADERS if not headers.get(name)]:
        raise Unsigned(f"the message is not signed: it has no header {', '.join(missing)}")
    told = {name: headers[name] for name in _HEADERS}
    if len(told["webhook-id"]) > _MOST_ID:
        raise Unsigned(f"the header webhook-id is longer than {_MOST_ID} characters")
    faults = [_fault(secret.get_secret_value(), told, body) for secret in secrets]
    if all(faults):
        raise Unsigned(f"the signature does not hold: {faults[0]}")
    return told["webhook-id"]


def _fault(secret: str, headers: dict[str, str], body: bytes) -> str | None:
    try:
        Webhook(secret).verify(body, headers, json_parse=False)
    except WebhookVerificationError as error:
        return str(error)
    except ValueError:  # a signature that is no base64, a body that is no UTF-8
        return "Invalid Signature Headers"
    return None
