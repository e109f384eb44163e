"""Longer files and edits in them, with an engine that fills by rules: a sign is a token to it."""

from plotted_lines import plotted_lines
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.context import KILO_TOKENS, measure_context
from intarsia_research.benchmark.editor.sources import cut_line_of_file
from intarsia_research.benchmark.edits import APPENDED, with_appended, with_edited_suffix
from intarsia_research.benchmark.figures import Bench


async def test_a_longer_file_is_read_longer_unless_it_is_cut_as_usual(address: Address):
    launch = rule_engine_launch(text="return value")
    client = EngineClient(name="test", start=False, address=address)
    bench = Bench(client=client, address=address, options=FillOptions(), repeats=1, launch=launch)
    figures = {it.name: it for it in await measure_context(bench)}
    await client.close()
    read = [figures[f"context_{kilo}k_read_tokens"].value or 0 for kilo in KILO_TOKENS]
    assert read == sorted(read)
    assert read[-1] > 30 * read[0]
    assert all(figures[f"context_{kilo}k_warm_ms"].bounds for kilo in KILO_TOKENS)
    assert {file: len(lines) for file, lines in plotted_lines(list(figures.values())).items()} == {
        "bench-context.svg": 4
    }
    assert figures["edit_8k_append_read_tokens"].value is not None
    assert figures["edit_8k_suffix_token_share"].value is not None


def test_a_file_is_about_as_long_as_asked_for_and_its_hole_four_fifths_down():
    for num_tokens in (1000 * kilo for kilo in KILO_TOKENS):
        line = cut_line_of_file(num_tokens)
        assert line == cut_line_of_file(num_tokens)
        assert 0.99 < len(line.text) / (4 * num_tokens) <= 1
        assert "\n" not in line.text[line.start : line.end]
        assert 0.1 < (len(line.text) - line.end) / len(line.text) < 0.35
    texts = [cut_line_of_file(1000 * kilo).text for kilo in KILO_TOKENS]
    assert len({text[:12] for text in texts}) == len(texts)


def test_an_edit_changes_one_side_of_the_hole_alone():
    line = cut_line_of_file(1_000)
    before, after = line.text[: line.start], line.text[line.end :]
    appended, edited = with_appended(line, 3), with_edited_suffix(line, 3)
    assert appended.text[: appended.start] == before + APPENDED.format(number=3)
    assert appended.text[appended.end :] == after
    assert edited.text[: edited.start] == before
    changed = edited.text[edited.end :]
    assert changed.replace("  # edit 3", "") == after
    assert 0.4 < changed.index("# edit") / len(changed) < 0.7
