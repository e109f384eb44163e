"""``make soak``: ``python tests/support/soak --minutes 60``; exit code 1 if a criterion fails."""

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.ground import Ground, fault_ground
from soak.report import write_report
from soak.schedule import Plan
from soak.soak_run import SoakRun
from soak.soaked import Soaked
from soak.verdict import criteria

REPORT = Path(__file__).parents[3] / "build" / "soak"
OF_THE_TEST = ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "INTARSIA_CACHE_DIR", "INTARSIA_DATA_DIR")
"""Folders that a soak with the real model leaves as the user has them: the model is there."""


def main() -> int:
    """Run a soak, write its report, and return the exit code."""
    plan = _plan()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        with fault_ground(folder) as ground:
            soaked = asyncio.run(_run(plan, ground))
    finally:
        shutil.rmtree(folder)
    write_report(soaked, REPORT)
    sys.stdout.write((REPORT / "report.md").read_text())
    return 0 if all(it.holds for it in criteria(soaked)) else 1


def _plan() -> Plan:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real-model", action="store_true", help="the default model fills")
    options = parser.parse_args()
    return Plan(
        seconds=60 * options.minutes,
        every_s=options.every,
        seed=options.seed,
        uses_real_model=options.real_model,
    )


async def _run(plan: Plan, ground: Ground) -> Soaked:
    """Run it; an interrupt ends it early, with the report of what was run."""
    environment = ground.environment()
    if plan.uses_real_model:
        environment = {key: it for key, it in environment.items() if key not in OF_THE_TEST}
    run = SoakRun(plan, ground, environment, lambda soaked: write_report(soaked, REPORT))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, run.stop)
    soaked = await run.run()
    await ground.end()
    return soaked


if __name__ == "__main__":
    sys.exit(main())
