"""Names of objects in a store that speaks S3.

A key is any text, so names are held to a form that can be a path below one folder.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from app.errors import UsageError

SCHEME = "s3://"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")  # as Amazon's rules for names have it
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ObjectName:
    """An object, or all that lies below a key that ends in a slash."""

    bucket: str
    key: str

    @property
    def is_folder(self) -> bool:
        """Whether many objects are meant."""
        return not self.key or self.key.endswith("/")

    def is_within(self, root: "ObjectName") -> bool:
        """Say whether it lies below another, which may lack its last slash."""
        folder = root.key.rstrip("/") + "/" if root.key else ""
        return self.bucket == root.bucket and (self.key + "/").startswith(folder)

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"


def named(text: str) -> ObjectName:
    """Read `s3://bucket/key`; raise UsageError for a key that could not be a path."""
    bucket, _, key = text.removeprefix(SCHEME).partition("/")
    if not text.startswith(SCHEME) or not _BUCKET.fullmatch(bucket):
        raise UsageError(f"{text[:300]!r}: an object is named as s3://bucket/key")
    parts = key.removesuffix("/").split("/") if key else []
    if _CONTROL.search(key) or "\\" in key or any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{text[:300]!r}: a key of `..`, empty parts or control characters")
    return ObjectName(bucket, key)


def of_uri(uri: str) -> ObjectName:
    """Read a URI, whose key may be escaped; raise UsageError."""
    if "?" in uri or "#" in uri:
        raise UsageError(f"{uri[:300]!r}: an object is named as s3://bucket/key")
    return named(unquote(uri))
