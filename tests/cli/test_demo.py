"""The demo's samples have the holes that the table says; the demo tells how they were filled."""

import pytest
from command_line import run

from intarsia.cli.demo import Sample, read_samples
from intarsia.cli.fill.where import cursor_at
from intarsia.infill.holes.hole import Hole, find_hole

SAMPLES = read_samples()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.file)
def test_each_position_is_a_hole_of_the_kind_that_is_said(sample: Sample):
    start = cursor_at(sample.text, sample.at).start
    hole = find_hole(sample.text, start, sample.language)
    assert isinstance(hole, Hole)
    line = sample.text[: hole.start].rsplit("\n", 1)[-1] + sample.text[hole.end :].split("\n")[0]
    assert bool(line.strip()) == (sample.shows == "the middle of a line")


def test_a_demo_whose_holes_are_not_filled_fails(start_engine):
    start_engine(text="")
    result = run("demo")
    assert result.exit_code == 1
    assert result.stdout.count("no suggestion: the model wrote nothing") == len(SAMPLES)
