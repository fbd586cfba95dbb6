"""Where tests find the project's rules, and the cache of compiled ones that they share."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
RULES = ROOT / "rules"
CACHE = ROOT / ".pytest_cache" / "rules"
