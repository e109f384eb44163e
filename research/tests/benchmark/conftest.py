"""An address of each test's own, so that no test meets another one's engine."""

from command_fixtures import address

__all__ = ["address"]
