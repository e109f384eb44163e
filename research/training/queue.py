"""Runs the long trainings one after the other, at idle priority, and goes on where it stopped.

``python -m intarsia_research.training.queue FOLDER`` starts the first run of ``queue.toml`` that is
not done, or resumes it. FOLDER is outside of the checkout; it holds the corpus and a folder a run.
Ctrl-C ends the run after its current step; the same command goes on. ``--show`` prints a table row
for each run instead.
"""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from types import FrameType

import click
import msgspec
from filelock import FileLock, Timeout

_LIST = Path(__file__).with_name("queue.toml")
_CHECKOUT = Path(__file__).parents[2]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One training: ``what`` and ``options`` as in ``intarsia_research train WHAT OPTIONS``.

    Paths are relative to the checkout; ``{folder}`` in an option is the queue's folder.
    """

    name: str
    what: str
    options: list[str]


def read_list(path: Path = _LIST) -> list[Entry]:
    """Return the runs of the list, in order."""
    return msgspec.convert(tomllib.loads(path.read_text("utf-8"))["run"], list[Entry])


def command(entry: Entry, folder: Path) -> list[str]:
    """Return the command that starts or resumes a run."""
    options = [option.replace("{folder}", str(folder)) for option in entry.options]
    places = ("--corpus", str(folder / "corpus"), "--out", str(folder / entry.name))
    return [sys.executable, "-P", "-m", "intarsia_research", "train", entry.what, *places, *options]


def is_done(entry: Entry, folder: Path) -> bool:
    """Whether a run has spent its budget."""
    return (folder / entry.name / "done").exists()


def row(entry: Entry, folder: Path) -> str:
    """Return a row of Markdown: hours, tokens learnt, and the first and the last held-out loss."""
    log = folder / entry.name / "log.jsonl"
    text = log.read_text("utf-8") if log.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    held_out = [line["held_out"] for line in lines if "held_out" in line]
    if not held_out:
        return f"| {entry.name} | not begun | | | |"
    losses = " | ".join(f"{figures['loss']:.3f}" for figures in (held_out[0], held_out[-1]))
    last = lines[-1]
    return f"| {entry.name} | {last['seconds'] / 3600:.1f} | {last['tokens']:,} | {losses} |"


def run(entry: Entry, folder: Path) -> bool:
    """Train until the run is done or the user interrupts; return whether it is done."""
    interrupted = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        child.send_signal(signal.SIGINT)

    with (folder / f"{entry.name}.log").open("ab") as output:
        # A group of its own: a terminal's Ctrl-C would reach the child twice, and the second one
        # ends it at once.
        child = subprocess.Popen(
            command(entry, folder),
            stdout=output,
            stderr=output,
            start_new_session=True,
            cwd=_CHECKOUT,
        )
        _yield_to_other_sessions(child.pid)
        before = {n: signal.signal(n, interrupt) for n in (signal.SIGINT, signal.SIGTERM)}
        status = child.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
    if status and not interrupted:
        raise click.ClickException(f"{entry.name} ended with {status}: see {output.name}")
    if not interrupted:
        (folder / entry.name / "done").touch()
    return not interrupted


def _yield_to_other_sessions(process: int) -> None:
    """Give the group of a process the lowest weight, where Linux groups processes by session.

    There a priority counts within a session only (sched(7), "The autogroup feature").
    """
    group = Path(f"/proc/{process}/autogroup")
    if group.exists():
        group.write_text("19")


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--show", is_flag=True, help="Print how far each run is, and train nothing.")
def main(folder: Path, *, show: bool) -> None:
    entries = read_list()
    if show:
        print(*(row(entry, folder) for entry in entries), sep="\n")  # noqa: T201
        return
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "queue.lock", timeout=0):
            if hasattr(os, "SCHED_IDLE"):
                os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            todo = (entry for entry in entries if not is_done(entry, folder))
            while (entry := next(todo, None)) and run(entry, folder):
                pass
    except Timeout as error:
        raise click.ClickException(f"{folder} is in use by another queue") from error


if __name__ == "__main__":
    main()
