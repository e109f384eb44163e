"""Former names of the options of an evaluation."""

import click
from click.testing import CliRunner, Result

from intarsia_research.commands.eval.options import eval_options


@click.command
@eval_options
def evaluate(**options: object) -> None:
    click.echo(options["decodings"])


def run(*words: str) -> Result:
    return CliRunner().invoke(evaluate, words, catch_exceptions=False)


def test_settle_is_repeatable_where_decoding_is():
    result = run("--settle", "left_to_right", "--settle", "verified")
    assert result.stdout == "('autoregressive', 'speculative')\n"
    assert result.stderr.endswith("write --decoding autoregressive --decoding speculative\n")
    assert run().stdout == "('speculative',)\n"
