"""Next edits without a model: rules correct lines by the text in them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import FindNextEdits, NextEdit, NextEdits

SURE = {"gain": 12.0, "gain_before": 0.0, "log_p": -0.5, "is_agreed": True}
BALANCED = {**SURE, "log_p": -1.5, "is_agreed": False}
BOLD = {**BALANCED, "gain": 5.0, "log_p": -3.0}
NOT_SHOWN = {**BOLD, "gain": 3.0}


def correction(
    first_line: int = 0, num_lines: int = 1, text: str = "x\n", **numbers: Any
) -> NextEdit:
    """Return an edit of an engine's answer, a sure one unless ``numbers`` say otherwise."""
    place = {"first_line": first_line, "num_lines": num_lines, "text": text, "drop": 5.0}
    return NextEdit(**place, **{**SURE, **numbers})


def rule(old: str, new: str, numbers: Mapping[str, Any] = SURE) -> Mapping[str, Any]:
    """Return a rule: in lines that have ``old`` in them, it becomes ``new``."""
    return {"old": old, "new": new, **numbers}


def find_by_rules(
    rules: Sequence[Mapping[str, Any]],
) -> Callable[[FindNextEdits, FillControl], NextEdits]:
    """Return a function that answers as an engine does, from the parts of the request alone.

    A rule ``{"seconds": …}`` says how long an answer takes, in steps of a twentieth.
    """
    seconds = sum(rule.get("seconds", 0.0) for rule in rules)
    rules = [rule for rule in rules if "old" in rule]

    def find(request: FindNextEdits, control: FillControl) -> NextEdits:
        for _ in range(max(1, round(20 * seconds))):
            control.checkpoint()
            time.sleep(seconds and 0.05)
        edits = list(_edits(request, rules)) if request.example is not None else []
        return NextEdits(
            id=request.id,
            edits=tuple(edits[: request.max_places]),
            line=edits[0].first_line if edits else None,
            drop=edits[0].drop if edits else 0.0,
            num_prefilled=0,
            num_reused=0,
            ms=1000 * seconds,
        )

    return find


def _edits(request: FindNextEdits, rules: Sequence[Mapping[str, Any]]) -> Iterator[NextEdit]:
    changed = [i for i, part in enumerate(request.parts) if part.before != part.after]
    number = 0
    for i, part in enumerate(request.parts):
        is_below = bool(changed) and i > changed[0]
        for line in part.after.split("\n")[: part.after.count("\n") + (part.after[-1:] != "\n")]:
            if part.may_change and is_below == (request.direction == "below"):
                for rule in rules:
                    if rule["old"] in line:
                        yield _edit(number, line.replace(rule["old"], rule["new"]), rule)
            number += 1


def _edit(number: int, line: str, rule: Mapping[str, Any]) -> NextEdit:
    return correction(number, 1, f"{line}\n", **{key: rule[key] for key in SURE})
