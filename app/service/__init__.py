"""Accept diagnoses, have them made, keep them: the one place with side effects."""

from app.service.service import Service

__all__ = ["Service"]
