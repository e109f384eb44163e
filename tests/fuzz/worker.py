"""Checks one target with a number of inputs, in a process of its own: a crash ends only this one.

``mutation`` changes inputs at random and is fast. ``coverage`` is Atheris: it keeps each input that
reaches new branches, and changes these.
"""

import argparse
import ast
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import bootstrap
from harness.mutate import mutated
from harness.target import FOLDER, Target, load_target
from harness.watched import Current, Watched

BATCH = 1_000
"""Inputs that follow from one seed: a process that replaces a crashed one begins with the next."""

COVERAGE_OPTIONS = ("-rss_limit_mb=4096", "-timeout=120", "-print_final_stats=0", "-verbosity=0")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--engine", choices=("mutation", "coverage"), required=True)
    parser.add_argument("--inputs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first-batch", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    bootstrap.prepare()
    logging.disable()  # what is refused is logged: millions of lines
    run = _run_mutation if arguments.engine == "mutation" else _run_coverage
    run(arguments)


def _run_mutation(arguments: argparse.Namespace) -> None:
    target = load_target(arguments.name)
    watched = _watched(arguments, target)
    seeds = [*target.seeds, *_corpus(arguments)]
    batch = arguments.first_batch
    while watched.num_inputs < arguments.inputs:
        random = Random(f"{arguments.seed} {arguments.name} {batch}")
        for _ in range(min(BATCH, arguments.inputs - watched.num_inputs)):
            watched.check(mutated(random, seeds, target.max_bytes))
        batch += 1


def _run_coverage(arguments: argparse.Namespace) -> None:
    import atheris

    with atheris.instrument_imports(include=list(load_watched(arguments.name))):
        target = load_target(arguments.name)
    corpus = arguments.folder / "corpus" / arguments.name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [
        f"-runs={arguments.inputs}",
        f"-seed={arguments.seed % 2**32}",
        f"-max_len={target.max_bytes}",
        *COVERAGE_OPTIONS,
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *options], _watched(arguments, target).check)
    atheris.Fuzz()


def load_watched(name: str) -> Sequence[str]:
    """Return the packages to count branches in, before the target imports them."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "watched":
            return list(ast.literal_eval(node.value))
    raise LookupError(name)


def _corpus(arguments: argparse.Namespace) -> list[bytes]:
    """Return the inputs that a run with coverage has kept, in a fixed order."""
    folder = arguments.folder / "corpus" / arguments.name
    return [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []


def _watched(arguments: argparse.Namespace, target: Target) -> Watched:
    current = Current(arguments.folder / f"{arguments.name}.{arguments.engine}.current")
    return Watched(arguments.name, target, current, arguments.folder / "findings")


if __name__ == "__main__":
    main()
