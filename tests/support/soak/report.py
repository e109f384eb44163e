"""Writes what a soak measured, as Markdown to read and as JSON to compare."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from soak.soaked import Soaked
from soak.verdict import between, criteria, milliseconds

REASON_CHARACTERS = 90


def write_report(soaked: Soaked, folder: Path) -> None:
    """Write report.md and report.json into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text("\n".join(_lines(soaked)) + "\n")
    (folder / "report.json").write_text(json.dumps(_record(soaked), indent=1))


def _lines(soaked: Soaked) -> Iterator[str]:
    plan, asks = soaked.plan, soaked.asks
    yield "# Soak"
    yield ""
    yield f"{soaked.ended_s - soaked.began_s:.0f} s of {plan.seconds:.0f} s, {plan.num_clients}"
    yield f"clients, {len(soaked.happened)} faults, seed {plan.seed}."
    yield ""
    yield from _table("criterion | figure | bound | holds", _criteria_rows(soaked))
    outcomes = Counter(it.outcome for it in asks.answers)
    outcomes["pending"] = asks.num_pending
    yield from _table("requests | number", [(name, str(n)) for name, n in outcomes.items()])
    checks = [(name, str(n)) for name, n in soaked.checks().items()]
    yield from _table("checks of a text | number", checks)
    yield from _table("reason of an empty answer | number", _reason_rows(soaked))
    yield from _table("interval | fault | requests | p50, ms | p99, ms", _interval_rows(soaked))


def _table(head: str, rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {head} |"
    yield "|" + "---|" * (head.count("|") + 1)
    yield from ("| " + " | ".join(row) + " |" for row in rows)
    yield ""


def _criteria_rows(soaked: Soaked) -> list[tuple[str, ...]]:
    return [
        (it.name, it.figure, it.bound, "yes" if it.holds else "**no**") for it in criteria(soaked)
    ]


def _reason_rows(soaked: Soaked) -> list[tuple[str, ...]]:
    counted = soaked.asks.reasons.most_common(30)
    return [(reason[:REASON_CHARACTERS].replace("|", "/"), str(n)) for reason, n in counted]


def _interval_rows(soaked: Soaked) -> list[tuple[str, ...]]:
    rows = []
    for number, (_, name) in enumerate(soaked.happened):
        start_s = number * soaked.plan.every_s
        answers = between(soaked, start_s, start_s + soaked.plan.every_s)
        p50, p99 = milliseconds(answers, 50), milliseconds(answers, 99)
        rows.append((str(number), name, str(len(answers)), f"{p50:.0f}", f"{p99:.0f}"))
    return rows


def _record(soaked: Soaked) -> dict[str, object]:
    return {
        "plan": dataclasses.asdict(soaked.plan),
        "seconds": soaked.ended_s - soaked.began_s,
        "criteria": [dataclasses.asdict(it) for it in criteria(soaked)],
        "outcomes": Counter(it.outcome for it in soaked.asks.answers),
        "reasons": soaked.asks.reasons,
        "errors": soaked.asks.errors,
        "stuck": soaked.asks.stuck,
        "happened": soaked.happened,
        "intervals": _interval_rows(soaked),
        "rest": {"before": soaked.rest_before, "after": soaked.rest_after},
        "samples": [dataclasses.asdict(it) for it in soaked.samples.taken],
    }
