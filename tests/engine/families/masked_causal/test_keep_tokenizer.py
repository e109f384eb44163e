"""A tokenizer that is kept in a form that is read sooner is the same tokenizer."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, processors
from toy_causal_tokenizer import MARKS, toy_sentencepiece, toy_tokenizer

from intarsia.engine.families.masked_causal.backbone import token_codec
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import read_fim_tokenizer
from intarsia.engine.families.masked_causal.backbone.keep_tokenizer import keep, kept_form
from intarsia.engine.families.masked_causal.backbone.token_codec import (
    HubCodec,
    KeptCodec,
    kept_files,
    kept_name,
    read_codec,
)


def kept(tokenizer: Tokenizer) -> KeptCodec:
    codec = HubCodec(tokenizer)
    form = kept_form(codec, tokenizer.to_str().encode())
    assert form is not None
    return KeptCodec(form, lambda: codec)


def with_begin() -> Tokenizer:
    tokenizer = toy_tokenizer()
    begin = (MARKS[0], tokenizer.token_to_id(MARKS[0]))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{MARKS[0]} $A", special_tokens=[begin]
    )
    return tokenizer


@pytest.fixture(scope="module", params=[toy_tokenizer, with_begin])
def both(request: pytest.FixtureRequest) -> tuple[HubCodec, KeptCodec]:
    return HubCodec(request.param()), kept(request.param())


def test_it_has_the_same_tokens(both: tuple[HubCodec, KeptCodec]) -> None:
    one, other = both
    assert other.all_bytes() == one.all_bytes()
    assert dict(other.special) == dict(one.special)
    assert list(other.begin_ids) == one.begin_ids
    for token in (*range(len(one.all_bytes()) + 3), 10**12, -1):
        assert other.bytes_of(token) == (one.bytes_of(token) if 0 <= token < 2**32 else b"")
    for mark in (*MARKS, "<|nothing|>", "d"):
        assert mark == "d" or other.id_of_mark(mark) == one.id_of_mark(mark)


@given(st.text() | st.text(alphabet="def return vé😀\n\t'1<|>") | st.sampled_from(MARKS))
def test_it_encodes_alike(both: tuple[HubCodec, KeptCodec], text: str) -> None:
    one, other = both
    assert other.encode(text) == one.encode(text)


@pytest.mark.parametrize("text", [" " * 700_000, "\t \t" * 300_000, "x = 1\n" * 100_000])
def test_a_long_text_does_not_end_the_process(text: str) -> None:
    """The library panics at half a million blanks: such a text is not for it."""
    assert kept(toy_tokenizer()).encode(text) == HubCodec(toy_tokenizer()).encode(text)


def plain_added() -> Tokenizer:
    tokenizer = toy_tokenizer()
    tokenizer.add_tokens([AddedToken("\t\té", special=False, normalized=False)])
    return tokenizer


@pytest.mark.parametrize(
    "make", [plain_added, lambda: toy_sentencepiece(marks=MARKS, adds_blank=True)]
)
def test_one_that_would_differ_is_not_kept(make: Callable[[], Tokenizer], tmp_path: Path) -> None:
    """It is noted, so that the next start does not try it again."""
    path = tmp_path / "tokenizer.json"
    make().save(str(path))
    keep(path)
    files = kept_files()
    assert files is not None
    assert files.read(kept_name(path.read_bytes())) == b""
    assert isinstance(read_codec(path), HubCodec)


def test_the_next_start_reads_what_another_process_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "tokenizer.json"
    toy_tokenizer().save(str(path))
    monkeypatch.setattr(token_codec, "MIN_KEPT_TOKENS", 10)
    asked: list[Path] = []
    monkeypatch.setattr(token_codec, "keep_later", asked.append)
    assert isinstance(read_codec(path), HubCodec)
    assert asked == [path]
    token_codec.run_keeping(path)
    before = read_fim_tokenizer(tmp_path).encode("def f(): return 'é'")
    assert isinstance(read_codec(path), KeptCodec)
    assert asked == [path]
    files = kept_files()
    assert files is not None
    found = files.folder / f"{kept_name(path.read_bytes())}.kept"
    found.write_bytes(found.read_bytes()[:-1] + b"?")
    assert isinstance(read_codec(path), HubCodec), "what is damaged is not read"
    assert read_fim_tokenizer(tmp_path).encode("def f(): return 'é'") == before
