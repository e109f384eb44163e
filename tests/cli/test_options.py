"""Options that several commands share, and their former names."""

import click
import pytest
from click.testing import CliRunner, Result

from intarsia.cli.options import FORMER_DECODINGS, fill_options


@click.command()
@fill_options
def fill(**options: object) -> None:
    click.echo(options["decoding"])


def run(command: click.Command, *words: str) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False)


@pytest.mark.parametrize(("former", "current"), FORMER_DECODINGS.items())
def test_settle_is_decoding_with_a_notice(former: str, current: str):
    result = run(fill, "--settle", former)
    assert result.stdout == f"{current}\n"
    assert result.stderr == (f"intarsia: --settle is deprecated: write --decoding {current}\n")
    assert run(fill, "--decoding", current).stderr == ""


def test_settle_has_its_former_values_only_and_is_not_shown():
    assert "'--settle': 'speculative' is not one of" in run(fill, "--settle", "speculative").stderr
    assert "'--decoding': 'verified' is not one of" in run(fill, "--decoding", "verified").stderr
    assert "--settle" not in run(fill, "--help").stdout


def test_decoding_goes_before_settle():
    assert run(fill, "--settle", "entropy", "--decoding", "speculative").stdout == "speculative\n"
