"""``make soak``: ``python tests/support/soak --minutes 60``; exit code 1 if a criterion fails."""

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.ground import fault_ground
from soak.record import Record
from soak.run import Plan, run

REPORT = Path(__file__).parents[3] / "build" / "soak.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    plan = Plan(seconds=60 * options.minutes, every_s=options.every, seed=options.seed)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        with fault_ground(folder) as ground:
            record = asyncio.run(run(plan, ground, write))
            asyncio.run(ground.end())
    finally:
        shutil.rmtree(folder)
    write(record)
    print(REPORT.read_text())
    return 0 if all(it.holds for it in record.verdict()) else 1


def write(record: Record) -> None:
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text("\n".join(lines(record)) + "\n")


def lines(record: Record) -> Iterator[str]:
    yield from ("| criterion | figure | holds |", "|---|---|---|")
    for name, figure, holds, _ in record.verdict():
        yield f"| {name} | {figure} | {'yes' if holds else '**no**'} |"
    yield f"\n{record.num_compared} texts compared. Answers:"
    yield from (f"- {n} {it}" for it, n in Counter(it.outcome for it in record.answers).items())
    yield "\nReasons of empty answers:"
    yield from (f"- {n} {reason[:90]}" for reason, n in record.reasons.most_common(30))
    yield from ("\n| second | fault | p99, ms |", "|--:|---|--:|")
    ends = [*(second for second, _ in record.happened[1:]), record.ended_s]
    for (second, name), end in zip(record.happened, ends, strict=True):
        yield f"| {second:.0f} | {name} | {record.p99_ms(second, end):.0f} |"


if __name__ == "__main__":
    sys.exit(main())
