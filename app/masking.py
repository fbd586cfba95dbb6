"""Hide secrets and personal data before text leaves for a model, an index or a fixture.

A log holds what nobody meant to print: keys in dumped environments, passwords in URLs, names in
paths. Each value found is replaced by a mask such as `<KEY_1>`, the same for the same value within
one log, so that the text still says where two lines speak of one thing; `restore` puts the values
back. What a secret looks like is known by form (a provider's prefix) or by company (a name such as
`password` before it); a secret with neither is not seen, so this is a help and no promise.

One alternation runs in RE2, in time linear in the text whatever the text is. A mask that the log
printed itself is masked as text, hence restoring is exact.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import re2

# A prefix alone tells little, as `hf_raise_for_status` does: what follows is drawn by lot.
_KNOWN_KEYS = "|".join(
    (
        r"sk-(?:[A-Za-z0-9]{1,20}-){0,4}[A-Za-z0-9_]{16,}[\w-]*",  # OpenAI, Anthropic
        r"[prs]k_(?:live|test)_[A-Za-z0-9]{16,}",  # Stripe
        r"(?:hf|npm|gsk|r8|fw|glsa|glc|dop_v1|wandb_v1)_[A-Za-z0-9]{20,}\w*",
        r"(?:pplx|xai|nvapi|GOCSPX)-[A-Za-z0-9][\w-]{19,}",
        r"gh[oprsu]_[A-Za-z0-9]{20,}",  # GitHub
        r"github_pat_\w{20,}",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{20,}",  # GitLab
        r"dckr_pat_[\w-]{20,}",
        r"xox[a-z]-[\w-]{10,}",  # Slack
        r"hooks\.slack\.com/services/[\w/]{20,}",
        r"A(?:KIA|SIA|ROA|IDA|BIA|CCA)[A-Z0-9]{16}\b",  # AWS
        r"LTAI[A-Za-z0-9]{12,}",  # Alibaba Cloud
        r"AKID[A-Za-z0-9]{13,}",  # Tencent Cloud
        r"AIza[\w-]{35}",  # Google
        r"ya29\.[\w.-]{20,}",
        r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)*",  # a JSON web token
        r"SG\.[\w-]{16,80}\.[\w-]{16,}",  # SendGrid
        r"dapi[0-9a-f]{32}",  # Databricks
        r"pypi-[\w-]{40,}",
        r"hv[bs]\.[\w-]{20,}",  # Vault
        r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    )
)
# WANDB_API_KEY   aws_secret_access_key   client_secret   X-Amz-Signature   AccountKey
_SECRET_NAME = (
    r"(?:api|access|account|secret|private|wandb|signing|encryption|shared|auth|subscription)[_-]?key"
    r"(?:[_-]?id)?|secret|password|passwd|passphrase|authorization|_auth"
    r"|(?:amz|goog)-(?:signature|credential|security-token)"
    r"|(?:db|database|smtp|mail|user|root|admin|redis|mysql|postgres|pg|ftp|proxy|ssh)[_-]?pass"
)
# hf_token   authToken; also what a tokenizer prints, so that what follows must look drawn by lot
_TOKEN_NAME = "token|auth|[_-]pat"
_SCHEME = r"(?i:bearer|basic|token|digest|negotiate|api-?key)"
_PERSON = r"\pL(?:[\pL\pN_.-]*[\pL\pN_-])?"
_BARE = r"[^\s\x00-\x1f\"'\\,;&<>(){}\[\]]+"


def _after(name: str, group: str) -> str:
    r"""Match a value behind a name: `=v`, `: v`, `": "v"`, or ` v` where the name is an option.

    A text in quotes may hold escaped ones, unless its own are escaped: `\"v\"`.
    """
    return (
        rf"(?:(?i:{name})\b(?:\\?[\"'])?\s?(?:=>|=|:)\s?(?:{_SCHEME}\s+)?"
        rf"|--[\w-]{{0,40}}(?i:{name})\s+)"
        rf"(?:\\[\"'](?P<{group}_in_escaped>[^\"'\\\n]+)"
        rf"|\"(?P<{group}_in_two>(?:[^\"\\\n]|\\.)+)|'(?P<{group}_in_one>(?:[^'\\\n]|\\.)+)"
        rf"|(?P<{group}_bare>{_BARE}))"
    )


# What may go on in vain is bounded, else a long word would be walked again for each find in it.
_FORMS = "|".join(
    (
        r"(?P<private>-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)",
        # a line of such a key, where its beginning is not shown
        r"(?:(?m:^)|[\s:])(?P<armour>[\w+/]{64}|[\w+/]{70})(?:\s|(?m:$))",
        r"(?P<own><(?:KEY|LOGIN|EMAIL|USER|IP|TEXT)_[0-9]+>)",
        r"://(?P<login>[^\s/@:\"']{0,64}:(?:[^\s/\"']{1,256}|[^\s@\"']{1,256})|[^\s/@:\"']{16,256})@",
        r"://[^\s\"'<>]{1,200}/(?:web)?hook\w{0,3}/(?P<hook>[\w/-]{20,})",  # Discord, Lark, Teams
        r"[?&;]sig=(?P<signed>[\w%+/=-]{10,})",  # Azure's links
        rf"\b(?P<key>{_KNOWN_KEYS})",
        r"\b(?i:bearer|basic)\s+(?P<bearer>[\w/+.~-]{16,}=*)",
        r"\b(?i:set-cookie|cookie):\s?(?P<cookie>[^\s\"'][^\n\"']*)",
        # docker login -u ines -p hunter2   sshpass -p hunter2   wandb login 0a1b…   curl -u ines:x
        r"\b(?:login\b[^\n]{0,60}?\s|sshpass\s)(?:-p|--password)[\s=]?[\"']?(?P<option>[^\s\"']+)",
        r"\blogin\s(?:--\w+\s){0,3}(?P<given>[0-9a-f]{40,64})\b",
        r"\bcurl\b[^\n]{0,60}?\s(?:-u|--user)[\s=]?[\"']?(?P<basic>[^\s\"':]+:[^\s\"']+)",
        _after(_SECRET_NAME, "secret"),
        _after("pwd", "pwd"),
        _after(_TOKEN_NAME, "token"),
        r"\b(?P<email>[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})\b",
        rf"(?:/home/|[/\\](?i:users)[/\\]+)(?P<user>{_PERSON})",
        r"(?:\b|_)(?i:user|username|user_name|userid|logname)(?:\\?[\"'])?\s?[=:]\s?(?:\\?[\"'])?"
        rf"(?P<named>{_PERSON})",
        rf"\buid=[0-9]+\((?P<called>{_PERSON})\)",
    )
)
_ADDRESSES = (
    r"|\b(?P<ip>(?:[0-9]{1,3}\.){3}[0-9]{1,3}|(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}"
    r"|(?:[0-9a-fA-F]{1,4}:){1,6}(?::[0-9a-fA-F]{1,4}){1,6})\b"
)
_KIND: Mapping[str, str] = {
    "own": "TEXT",
    "login": "LOGIN",
    "email": "EMAIL",
    "user": "USER",
    "named": "USER",
    "called": "USER",
    "ip": "IP",
}
_NO_PERSON = frozenset(
    {
        "root", "user", "users", "ubuntu", "nobody", "shared", "runner", "admin", "git", "work",
        "app", "conda", "docker", "jovyan", "none", "null", "ec2-user", "centos", "slurm", "data",
        "cluster", "public",
    }
)  # fmt: skip
_NO_SECRET = frozenset(
    {"none", "null", "nil", "true", "false", "auto", "set", "unset", "missing", "required"}
)
_VARIABLE = re.compile(r"\$\w*|\*+|%\(\w+\)s|\.\.\.")  # no value stands here
_SLOT = re.compile(r"slot[\d_]+")  # slot1_7@gpu-12.pool.example, a place of HTCondor
_COUNT = re.compile(r"[-+.,:eE0-9%x/]+")
_MASK = re.compile(r"<(?:KEY|LOGIN|EMAIL|USER|IP|TEXT)_[0-9]+>")
_END = re.compile(rb"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_PRIVATE_KEY = 16 << 10  # bytes; RSA of 16384 bits takes 13 kB
_BODY = re.compile(rb"[^\n]*\n(?:[^\n]*[A-Za-z0-9+/=]{40}[^\n]*\n?)*")  # where its end is missing
_PORT = re.compile(r"[^:]*:[0-9]{1,5}/.*|\[.*")  # host:8000/path@tag   [::1]:80/a@b
_DRAWN = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])")  # unlike a digest in hexadecimal
_SHORT, _LONG = 8, 20  # a token has 20 characters, or 8 that hold a digit and are no count
_MEMORY = 64 << 20  # bytes; with less, RE2 forgets its states and begins anew all the time


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without what was found in it; `places` counts what was replaced."""

    text: str
    places: int
    restore: Callable[[str], str]


class Masks:
    """The masks of one log; what is hidden twice gets the same mask. For one thread."""

    def __init__(self, *, addresses: bool = False) -> None:
        """Hide IP addresses too where `addresses` says so."""
        self._finder = _finder(addresses)
        self._mask_of: dict[tuple[str, str], str] = {}
        self._value_of: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def hide(self, text: str) -> Masked:
        """Replace what is found in a text of this log."""
        data = text.encode("utf-8", "surrogatepass")
        pieces: list[bytes] = []
        end = 0
        for begin, stop, kind in self._finder.places(data):
            value = data[begin:stop].decode("utf-8", "surrogatepass")
            pieces += (data[end:begin], self._mask(kind, value).encode())
            end = stop
        if not pieces:
            return Masked(text, 0, self.restore)
        told = b"".join((*pieces, data[end:])).decode("utf-8", "surrogatepass")
        return Masked(told, len(pieces) // 2, self.restore)

    def restore(self, text: str) -> str:
        """Put the values back; a mask that was never given stays as it is."""
        return _MASK.sub(lambda found: self._value_of.get(found[0], found[0]), text)

    def _mask(self, kind: str, value: str) -> str:
        known = self._mask_of.get((kind, value))
        if known is None:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            known = self._mask_of[kind, value] = f"<{kind}_{self._counts[kind]}>"
            self._value_of[known] = value
        return known


def hidden(text: str, *, addresses: bool = False) -> Masked:
    """Mask one text by itself."""
    return Masks(addresses=addresses).hide(text)


class _Finder:
    """The compiled alternation."""

    def __init__(self, addresses: bool) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        forms = _FORMS + (_ADDRESSES if addresses else "")
        self._forms = re2.compile(forms.encode(), options)
        self._names = {index: name.decode() for name, index in self._forms.groupindex.items()}

    def places(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Find what is to be masked: begin, end and kind, one after the other."""
        end = 0
        for found in self._forms.finditer(data):
            group = found.lastindex
            begin, stop = found.span(group)
            if begin < end:  # inside of a private key
                continue
            name = self._names[group]
            if name == "private":
                stop = _private_end(data, stop)
            elif _is_harmless(name, data[begin:stop]):
                continue
            end = stop
            yield begin, stop, _KIND.get(name, "KEY")


@lru_cache(maxsize=2)
def _finder(addresses: bool) -> _Finder:
    return _Finder(addresses)


def _private_end(data: bytes, begin: int) -> int:
    closing = _END.search(data, begin, begin + _LONGEST_PRIVATE_KEY)
    if closing:
        return closing.end()
    body = _BODY.match(data, begin, begin + _LONGEST_PRIVATE_KEY)
    return body.end() if body else begin


def _is_harmless(name: str, data: bytes) -> bool:
    """Say whether a value only stands where a secret or a name might."""
    value = data.decode("utf-8", "surrogatepass")
    if name in ("user", "named", "called"):
        return value.lower() in _NO_PERSON
    if name == "login":
        return _PORT.fullmatch(value) is not None
    if name == "armour":
        return _DRAWN.match(value) is None
    if name.startswith("pwd_") and not value.isalnum() and value[0] in "/~.":
        return True  # the present folder
    if name.startswith(("secret_", "token_", "pwd_")) and (
        value.lower() in _NO_SECRET or _VARIABLE.fullmatch(value)
    ):
        return True
    if name.startswith("token_") and len(value) < _LONG:
        drawn = len(value) >= _SHORT and any(map(str.isdigit, value))
        return not drawn or _COUNT.fullmatch(value) is not None
    local = value.partition("@")[0].lower()
    return name == "email" and (local in _NO_PERSON or _SLOT.fullmatch(local) is not None)
