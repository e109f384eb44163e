"""An evaluation as a table for people, or as one line of JSON for scripts."""

from typing import Any

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table

from intarsia.cli.console import output
from intarsia.cli.eval_figures import Evaluation, ModeFigures, Spread
from intarsia.cli.machine import describe_machine


def report(evaluation: Evaluation, *, method: str, settings: dict[str, Any], as_json: bool) -> None:
    """Print it. ``method`` says in words what was asked and how it was judged."""
    if as_json:
        about = {"machine": describe_machine(), "method": method, **settings}
        click.echo(msgspec.json.encode(about | msgspec.to_builtins(evaluation)))
    else:
        output().print(_table(evaluation, method))


def _table(evaluation: Evaluation, method: str) -> Table:
    has_run = any(figures.pass_at_1 is not None for figures in evaluation.modes)
    table = Table(box=SIMPLE_HEAD, caption=_caption(evaluation, method), caption_justify="left")
    table.add_column("settle", no_wrap=True)
    for name in _columns(has_run=has_run):
        table.add_column(name, justify="right", no_wrap=True)
    for figures in evaluation.modes:
        table.add_row(figures.settle, *_cells(figures, evaluation.holes, has_run=has_run))
    return table


def _columns(*, has_run: bool) -> list[str]:
    return [
        "exact",
        *(["pass@1"] if has_run else []),
        "empty",
        "failed",
        "passes",
        "tokens\na pass",
        "same text\nas the first",
        "denoise ms\np50 / p95",
        "with prefill\np50 / p95",
    ]


def _cells(figures: ModeFigures, num_holes: int, *, has_run: bool) -> list[str]:
    ratio = "" if figures.passes_to_first is None else f" ({figures.passes_to_first:.2f})"
    return [
        _percent(figures.exact),
        *([_percent(figures.pass_at_1)] if has_run else []),
        _percent(figures.empty),
        str(figures.failures),
        f"{figures.passes}{ratio}",
        "–" if figures.tokens_per_pass is None else f"{figures.tokens_per_pass:.2f}",
        f"{figures.same_as_first} of {num_holes}",
        _spread(figures.denoise_ms),
        _spread(figures.total_ms),
    ]


def _caption(evaluation: Evaluation, method: str) -> str:
    lines = [f"{evaluation.holes} holes, {evaluation.model or 'no model'}: {method}"]
    if evaluation.prefilled_tokens is not None:
        lines.append(
            f"prefill, once a hole, cold: {_spread(evaluation.prefill_ms)} ms p50 / p95, "
            f"{evaluation.prefilled_tokens:.0f} tokens read at the mean"
        )
    return "\n".join([*lines, describe_machine()])


def _spread(ms: Spread) -> str:
    return "–" if ms.p50 is None or ms.p95 is None else f"{ms.p50:.0f} / {ms.p95:.0f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
