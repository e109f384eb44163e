"""Fixtures of the protocol's tests."""

from short_pauses import short_pauses

__all__ = ["short_pauses"]
