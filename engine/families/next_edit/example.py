"""An edit as an example for a model: the text before it and after it, under two headings."""

from intarsia.engine.families.next_edit.code_lines import with_newline
from intarsia.engine.ipc.messages import EditExample


def example_text(example: EditExample) -> str:
    """Return both texts of an edit."""
    return lines_to_correct(example.before) + with_newline(example.after)


def lines_to_correct(lines: str) -> str:
    """Return lines in the same form, after which a model writes what they become."""
    return "original:\n" + with_newline(lines) + "updated:\n"


def only_adds(example: EditExample) -> bool:
    """Tell whether an edit adds lines between two lines, and changes none."""
    first, _, rest = example.before.partition("\n")
    return bool(first) and example.after.startswith(first + "\n") and example.after.endswith(rest)


def num_added_lines(example: EditExample) -> int:
    """Return how many lines the edit added, 0 if it removed some."""
    return max(0, example.after.count("\n") - example.before.count("\n"))
