"""Each item says how sure the model was of its parts, to a client that asked to know."""

import msgspec
import pytest
from extended_client import Message, last_items, told_page
from lsprotocol import types
from open_documents import seen

from intarsia.engine.ipc.address import Address
from intarsia.infill.suggestion import ConfidentToken
from intarsia.lsp.ghost_text import GhostText
from intarsia.lsp.requests.inline_completion import confident_item

ALL = {"showThreshold": 0}


def told(messages: list[Message]) -> tuple[str, list[tuple[str, float]], str]:
    """Return the last item's text, its tokens, and what is sure of it."""
    (item,) = last_items(messages)
    tokens = [(it["text"], it["confidence"]) for it in item["intarsia"]["tokens"]]
    assert "".join(text for text, _ in tokens) == item["insertText"]
    return item["insertText"], tokens, item["intarsia"]["sure"]


def unsure(tokens: list[tuple[str, float]]) -> list[str]:
    return [text for text, confidence in tokens if confidence < 1]


async def test_an_item_tells_its_tokens_and_what_is_sure(runtime: Address) -> None:
    model = {"text": "add(left, right)", "unsure": ["right"]}
    async with told_page(runtime, "y = ", "confidence", options=ALL, **model) as (user, messages):
        assert await user.shown(0, 4)
        (item,) = last_items(messages)
        cursor = {"line": 0, "character": 4}
        confidences = {"add": 1.0, "(": 1.0, "left": 1.0, ",": 1.0, " right": 0.3, ")": 1.0}
        tokens = [{"text": text, "confidence": it} for text, it in confidences.items()]
        assert item == {
            "insertText": "add(left, right)",
            "range": {"start": cursor, "end": cursor},
            "intarsia": {"tokens": tokens, "sure": "add(left,"},
        }


@pytest.mark.parametrize(
    ("text", "place", "options", "model", "shown", "not_sure", "sure"),
    [
        ("y = ", (0, 4), {"sureConfidence": 0.3}, ("a + b", "b"), "a + b", [" b"], "a + b"),
        (  # what cleaning cuts and adds is told right
            "\t# tabs\r\ndef f(left):",
            (1, 12),
            {},
            ("\n\n    return left # more\n\ndef g():\n    pass", "left"),
            "\r\n\treturn left # more",
            [" left"],
            "\r\n\treturn",
        ),
    ],
)
async def test_the_option_and_the_text_on_show_decide_what_is_sure(
    runtime, text, place, options, model, shown, not_sure, sure
):
    rules = {"text": model[0], "unsure": [model[1]]}
    options = {**ALL, **options}
    async with told_page(runtime, text, "confidence", options=options, **rules) as (user, messages):
        assert await user.shown(*place) == [shown]
        _, tokens, told_sure = told(messages)
        assert (unsure(tokens), told_sure) == (not_sure, sure)


async def test_the_word_selected_in_the_menu_belongs_to_the_tokens_and_is_sure(runtime):
    word = types.Range(types.Position(0, 4), types.Position(0, 6))
    selected = types.SelectedCompletionInfo(word, "foo")
    model = {"text": "(a)", "unsure": ["("]}
    async with told_page(runtime, "y = fo", "confidence", options=ALL, **model) as (user, messages):
        assert await user.shown(0, 6, selected=selected)
        text, tokens, sure = told(messages)
        assert (text, tokens[:2], sure) == ("foo(a)", [("foo", 1.0), ("(", 0.3)], "foo")


def test_nothing_is_told_where_the_models_server_tells_no_probability() -> None:
    tokens = (ConfidentToken("f(", None), ConfidentToken(")", 1.0))
    item = confident_item(seen("y = |"), GhostText("f()", tokens))
    assert item.insert_text == "f()"
    assert "intarsia" not in msgspec.to_builtins(item, enc_hook=str)
