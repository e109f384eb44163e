"""Passages of other files as a message for the engine."""

from intarsia.engine.ipc.messages import ContextChunk, ProjectContext
from intarsia.infill.filling.project import to_project_context


def test_passages_keep_their_order_and_empty_ones_are_left_out() -> None:
    passages = [("b.py", "x = 1"), ("c.py", ""), ("a.py", "y = 2")]
    assert to_project_context(passages, "house", "main.py") == ProjectContext(
        repository="house",
        path="main.py",
        chunks=(ContextChunk(path="b.py", text="x = 1"), ContextChunk(path="a.py", text="y = 2")),
    )


def test_without_passages_there_is_no_project() -> None:
    assert to_project_context([], "house", "main.py") is None
    assert to_project_context([("a.py", "")], "house", "main.py") is None
