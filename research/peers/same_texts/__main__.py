"""Compare texts of our engine and of servers: ``python -m intarsia_research.peers.same_texts``.

The servers are remotes of ``intarsia remote``, and serve the model that `intarsia export` wrote.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from intarsia.engine.config import Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia.engine.remote.settings.remotes import find_remote
from intarsia_research.errors import EvaluationFault
from intarsia_research.peers.same_texts.compare import (
    NEAR_TIE_NATS,
    Choice,
    Difference,
    Pair,
    compare,
)
from intarsia_research.peers.same_texts.holes import line_holes
from intarsia_research.peers.same_texts.kept import KeptHoles
from intarsia_research.peers.same_texts.writers import (
    OwnEngine,
    Writer,
    load_own_engine,
    open_remote_engine,
)

_HUMANEVAL = Path("tests/data/human-eval-infilling/HumanEval-SingleLineInfilling.jsonl.gz")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; return the exit code: 1 if a system cannot be asked."""
    options = _parser().parse_args(arguments)
    try:
        for line in _report(options):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    except (ModelError, EvaluationFault) as fault:
        sys.stderr.write(f"{fault}\n")
        return 1
    return 0


def _report(options: argparse.Namespace) -> Iterator[str]:
    judge = load_own_engine(options.model, "float32")
    dtypes: Sequence[Dtype] = options.dtypes or ("auto",)
    own = [load_own_engine(options.model, dtype) for dtype in dtypes]
    remotes = [open_remote_engine(find_remote(name)) for name in options.remotes]
    text = own[0].text
    holes = line_holes(
        options.humaneval,
        text,
        num_holes=options.holes,
        max_tokens=options.max_tokens,
        seed=options.seed,
    )
    yield f"{len(holes)} lines of as many problems, at most {options.max_tokens} tokens each"
    kept = KeptHoles(options.keep)
    systems: list[Writer] = [*own, *remotes]
    written = []
    for system in systems:
        num_at_once = 1 if isinstance(system, OwnEngine) else options.at_once
        written.append(
            kept.write_all(system, holes, num_at_once=num_at_once, on_done=_Progress(system.name))
        )
    for pair in compare(holes, list(zip(systems, written, strict=True)), judge):
        yield from _pair_lines(pair, text)


def _pair_lines(pair: Pair, text: FimTokenizer) -> Iterator[str]:
    """Yield a pair's figures, and a line for each hole that differs."""
    num_others = len(pair.differences) - pair.num_near_ties
    yield (
        f"{' and '.join(pair.names)}: {pair.num_equal} texts equal, {pair.num_near_ties} differ at "
        f"a near tie (less than {NEAR_TIE_NATS} nats apart), {num_others} otherwise"
    )
    for difference in pair.differences:
        yield _difference_line(difference, text)


def _difference_line(difference: Difference, text: FimTokenizer) -> str:
    choices = (difference.first, difference.second)
    sides = " against ".join(_choice_text(choice, text) for choice in choices)
    texts = " | ".join(repr(choice.text) for choice in choices)
    return (
        f"  {difference.case}, token {difference.position}: {sides}, {difference.gap:.3f} apart in "
        f"float32: {texts}"
    )


def _choice_text(choice: Choice, text: FimTokenizer) -> str:
    shown = text.bytes_of(choice.token).decode("utf-8", "replace")
    other = "rare" if choice.other_log_p is None else f"{choice.other_log_p:.3f}"
    return f"{shown!r} {choice.log_p:.3f} (the other {other})"


class _Progress:
    """Says on standard error how many holes a system has written."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, num_done: int) -> None:
        if num_done % 10 == 0:
            sys.stderr.write(f"{self._name}: {num_done} holes\n")
            sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m intarsia_research.peers.same_texts", description=__doc__
    )
    parser.add_argument("remotes", nargs="+", metavar="REMOTE", help="a name of `intarsia remote`")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="what our engine runs")
    parser.add_argument(
        "--dtype",
        dest="dtypes",
        action="append",
        choices=get_args(Dtype),
        help="number format of our engine; repeatable (default: the one that it chooses)",
    )
    parser.add_argument("--holes", type=int, default=100)
    parser.add_argument("--max-tokens", type=int, default=24)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--at-once", type=int, default=1, help="requests to a server at a time")
    parser.add_argument(
        "--humaneval", type=Path, default=_HUMANEVAL, help="a file of the benchmark"
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="what is written, to go on from")
    return parser


if __name__ == "__main__":
    sys.exit(main())
