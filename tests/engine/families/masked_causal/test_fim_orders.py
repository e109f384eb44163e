"""Each family's own prompt: the order of its marks, its first token, and where its middle ends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from toy_causal import joined, toy_fill, toy_filler
from toy_causal_fill import greedy_fill, run_fill
from toy_causal_tokenizer import toy_sentencepiece, toy_tokenizer
from toy_other_shapes import OTHER_SHAPES, toy_other_model

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import read_fim_tokenizer

_QWEN = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")
_STAR = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>")
_DEEPSEEK = ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>")
_SEED = ("<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>")
_MISTRAL = ("[PREFIX]", "[SUFFIX]", "[MIDDLE]")


def byte_level(*marks: str) -> Callable[[], Tokenizer]:
    return lambda: toy_tokenizer(marks=marks)


def sentencepiece(*marks: str, adds_blank: bool) -> Callable[[], Tokenizer]:
    return lambda: toy_sentencepiece(marks=marks, adds_blank=adds_blank)


# family → its tokenizer, its prompt with P and S for prefix and suffix, the end of its middle
FAMILIES: dict[str, tuple[Callable[[], Tokenizer], str, str]] = {
    "qwen": (
        byte_level("<|endoftext|>", *_QWEN, "<|fim_pad|>"),
        "<|fim_prefix|> P <|fim_suffix|> S <|fim_middle|>",
        "<|endoftext|>",
    ),
    "starcoder2, granite code": (
        byte_level("<|endoftext|>", *_STAR, "<fim_pad>"),
        "<fim_prefix> P <fim_suffix> S <fim_middle>",
        "<|endoftext|>",
    ),
    "granite 3": (
        byte_level("<|end_of_text|>", *_STAR, "<fim_pad>"),
        "<fim_prefix> P <fim_suffix> S <fim_middle>",
        "<|end_of_text|>",
    ),
    "deepseek-coder": (
        byte_level("<｜end▁of▁sentence｜>", *_DEEPSEEK),
        "<｜fim▁begin｜> P <｜fim▁hole｜> S <｜fim▁end｜>",
        "<｜end▁of▁sentence｜>",
    ),
    "seed-coder": (
        byte_level("<[end▁of▁sentence]>", *_SEED),
        "<[fim-suffix]> S <[fim-prefix]> P <[fim-middle]>",
        "<[end▁of▁sentence]>",
    ),
    "codegemma": (
        sentencepiece("<|file_separator|>", *_QWEN, adds_blank=False),
        "<s> <|fim_prefix|> P <|fim_suffix|> S <|fim_middle|>",
        "<|file_separator|>",
    ),
    "codestral": (sentencepiece(*_MISTRAL, adds_blank=True), "<s> [SUFFIX] S [PREFIX] P", "</s>"),
}
SENTENCEPIECE = ("codegemma", "codestral")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with each family's tokenizer and a small random model of another shape."""
    root = tmp_path_factory.mktemp("orders")
    found = {}
    for number, (name, (tokenizer, _, _)) in enumerate(FAMILIES.items()):
        found[name] = root / str(number)
        shape = OTHER_SHAPES["qwen3_moe"] if name == "qwen" else OTHER_SHAPES["gemma"]
        toy_other_model({**shape, "vocab_size": 400}).save_pretrained(found[name])
        tokenizer().save(str(found[name] / "tokenizer.json"))
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_the_prompt_is_the_familys_own(folders: dict[str, Path], name: str) -> None:
    text, (make, prompt, end) = read_fim_tokenizer(folders[name]), FAMILIES[name]
    prefix, suffix = text.encode("def f(x"), text.encode("):\n  y")
    parts = {"P": prefix, "S": suffix}
    ids = [token for part in prompt.split() for token in parts.get(part, [_id(make, part)])]
    assert text.context(prefix, suffix) == ids
    assert text.mark_ids().end == _id(make, end)
    assert _id(make, end) in text.end_ids
    marks = text.mark_ids()
    plain = text.without_suffix([*ids, *text.encode(" z")])
    assert marks.before_suffix not in plain
    assert joined(text, plain) == "def f(x z"


def _id(make: Callable[[], Tokenizer], token: str) -> int:
    found: int | None = make().token_to_id(token)
    assert found is not None, token
    return found


@pytest.mark.parametrize("name", SENTENCEPIECE)
@given(st.text() | st.text(alphabet="def x▁😀\n\t<0A>"))
def test_no_text_is_changed_by_sentencepiece(folders: dict[str, Path], name: str, written: str):
    text = read_fim_tokenizer(folders[name])
    ids = text.encode(written)
    expected = written.encode("utf-8", "replace").decode()
    assert joined(text, ids) == expected
    assert "".join(text.pieces(ids, num_given=0)) == expected


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_marks_in_a_file_are_text_and_tags_are_no_marks(folders: dict[str, Path], name: str):
    text = read_fim_tokenizer(folders[name])
    for mark in (*FAMILIES[name][1].split(), "<table>", "</s>", "<0x0A>"):
        ids = text.encode(f"x{mark}y")
        assert not text.end_ids & set(ids), mark
        assert joined(text, ids) == f"x{mark}y"
    assert FAMILIES[name][0]().token_to_id("<table>") not in text.end_ids


def test_a_half_typed_word_is_healed_in_sentencepiece_too(folders: dict[str, Path]) -> None:
    text = read_fim_tokenizer(folders["codegemma"])
    ids, healed = text.split_given("x de")
    assert healed == b" de"
    assert b" def" in {text.bytes_of(token) for token in text.continuing(healed)}
    assert joined(text, ids) == "x"


def test_the_first_token_may_be_named_in_the_settings(tmp_path: Path) -> None:
    begin, end = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
    toy_tokenizer(marks=(end, begin, *_DEEPSEEK)).save(str(tmp_path / "tokenizer.json"))
    first = toy_tokenizer(marks=(end, begin, *_DEEPSEEK)).token_to_id(begin)

    def begins(settings: object) -> bool:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
        return read_fim_tokenizer(tmp_path).context([], [])[0] == first

    assert begins({"add_bos_token": True, "bos_token": {"content": begin}})
    assert begins({"add_bos_token": True, "bos_token": begin})
    for other in (
        {"add_bos_token": False, "bos_token": begin},
        {"bos_token": begin},
        {"add_bos_token": True, "bos_token": None},
        {"add_bos_token": True, "bos_token": "<other>"},
        {"add_bos_token": True, "bos_token": 7},
        {"add_bos_token": True},
        [],
    ):
        assert not begins(other), other


@pytest.mark.parametrize("name", FAMILIES)
def test_a_hole_is_filled_token_for_token_as_by_transformers(folders: dict[str, Path], name: str):
    prefix, suffix = "import os\n\n\ndef f(x):\n    y = 1\n    return default(x", ")\n\nf(2)\n"
    expected, ids = greedy_fill(folders[name], prefix, suffix, 24)
    request = toy_fill(prefix, suffix)
    assert run_fill(toy_filler(folders[name]), request).text == expected
    assert len(ids) > 2
