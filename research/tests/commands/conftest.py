"""Each command of a test has an address of its own."""

from command_fixtures import address, start_engine

__all__ = ["address", "start_engine"]
