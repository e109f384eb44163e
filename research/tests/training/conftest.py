"""A toy backbone and packed holes, made once."""

from toy_training_fixtures import holes, one_thread, toy

__all__ = ["holes", "one_thread", "toy"]
