"""Text round a hole, and code of other files before it, as token ids, and back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors
from toy_causal import joined
from toy_causal_tokenizer import MARKS, toy_sentencepiece, toy_tokenizer

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone import token_codec
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimTokenizer,
    is_name_byte,
    read_fim_tokenizer,
)
from intarsia.engine.families.masked_causal.backbone.keep_tokenizer import keep, kept_form
from intarsia.engine.families.masked_causal.backbone.token_codec import (
    HubCodec,
    KeptCodec,
    kept_files,
    kept_name,
    read_codec,
)
from intarsia.engine.families.masked_causal.hole_text import Beginning
from intarsia.engine.families.masked_causal.read_request import lay_out_project
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext


def saved(tokenizer: Tokenizer, folder: Path) -> FimTokenizer:
    tokenizer.save(str(folder / "tokenizer.json"))
    return read_fim_tokenizer(folder)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> FimTokenizer:
    return saved(toy_tokenizer(), tmp_path_factory.mktemp("tokenizer"))


def test_an_empty_suffix_is_a_line_break(text: FimTokenizer) -> None:
    assert text.context([], []) == text.context([], text.encode("\n"))


@pytest.mark.parametrize("are_marks_special", [True, False])
def test_what_looks_like_a_mark_is_plain_text(are_marks_special: bool, tmp_path: Path) -> None:
    text = saved(toy_tokenizer(are_marks_special=are_marks_special), tmp_path)
    for mark in MARKS:
        ids = text.encode(f"x{mark}y")
        assert not text.end_ids & set(ids)
        assert joined(text, ids) == f"x{mark}y"
    assert len(text.end_ids) == len(MARKS), "each of these ends a hole, however it is listed"


def test_a_plain_added_token_is_text(tmp_path: Path) -> None:
    tokenizer = toy_tokenizer()
    tokenizer.add_tokens([AddedToken("\t\té", special=False, normalized=False)])
    text = saved(tokenizer, tmp_path)
    ids = text.encode("a\t\té")
    assert len(ids) == 2
    assert joined(text, ids) == "a\t\té"
    assert text.split_given("\t\té") == ([], "\t\té".encode())


def test_a_tokenizer_that_cuts_long_texts_cuts_none_here(tmp_path: Path) -> None:
    tokenizer = toy_tokenizer()
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=16)
    text = saved(tokenizer, tmp_path)
    assert joined(text, text.encode("x = 1\n" * 9)) == "x = 1\n" * 9
    assert len(text.encode("x")) == 1


@given(st.text())
def test_encoding_loses_nothing(text: FimTokenizer, written: str) -> None:
    ids = text.encode(written)
    expected = written.encode("utf-8", "replace").decode()
    assert joined(text, ids) == expected
    assert "".join(text.pieces(ids, num_given=0)) == expected


@given(st.text(alphabet="dé😀 \nretunv", max_size=12), st.text(alphabet="dé😀 \n", max_size=12))
def test_pieces_leave_out_what_is_given(text: FimTokenizer, given_text: str, rest: str) -> None:
    ids = text.encode(given_text + rest)
    pieces = text.pieces(ids, num_given=len(given_text.encode()))
    assert "".join(pieces) == rest
    assert len(pieces) == len(ids)


def test_a_character_cut_over_tokens_goes_to_the_last(text: FimTokenizer) -> None:
    ids = text.encode(" 😀")
    assert len(ids) > 1
    assert text.pieces(ids, num_given=0) == [" ", *[""] * (len(ids) - 2), "😀"]
    assert "".join(text.pieces(ids[:-1], num_given=0)) == " ", "half a character is left out"


def test_bytes_that_are_no_utf8_become_a_replacement(text: FimTokenizer) -> None:
    ids = [i for i in range(256) if text.bytes_of(i) == b"\xff"]
    assert text.pieces([*ids, *text.encode("x")], num_given=0) == ["\ufffd", "x"]


@given(st.binary(min_size=1, max_size=4))
def test_continuing_names_all_that_fit_and_nothing_else(text: FimTokenizer, given_bytes: bytes):
    found = text.continuing(given_bytes)
    everything = {i: text.bytes_of(i) for i in range(text.num_tokens) if text.bytes_of(i)}
    fits = {
        i
        for i, raw in everything.items()
        if raw.startswith(given_bytes) or given_bytes.startswith(raw)
    }
    assert set(found) == fits
    assert len(found) == len(fits)


@given(st.text() | st.text(alphabet="val return"))
def test_given_text_is_split_before_its_last_tokens(text: FimTokenizer, given_text: str) -> None:
    ids, healed = text.split_given(given_text)
    whole = b"".join(text.bytes_of(i) for i in ids) + healed
    assert whole == given_text.encode("utf-8", "replace")
    assert bool(healed) == bool(given_text)
    all_ids = text.encode(given_text)
    assert ids == all_ids[: len(ids)]
    tails = [b"".join(map(text.bytes_of, all_ids[at:])) for at in range(len(all_ids))]
    tokens = [text.bytes_of(i) for i in range(text.num_tokens)]
    begun = [tail for tail in tails if any(token.startswith(tail) for token in tokens)]
    assert healed == (begun[0] if begun else b""), "as much as one token can begin with"


def test_a_padding_row_of_the_matrix_has_no_text(text: FimTokenizer) -> None:
    assert text.bytes_of(text.num_tokens + 5) == b""


@pytest.mark.parametrize("added", ["", "☃", "a☃☃b", "é\t"])
@pytest.mark.parametrize("gap", [4, 40])
def test_all_tokens_are_listed_as_each_alone(added: str, gap: int, tmp_path: Path) -> None:
    """Whatever characters an added token has, and where ids are left out."""
    content = json.loads(toy_tokenizer().to_str())
    vocab = content["model"]["vocab"]
    vocab["Ġz"] = max([*vocab.values(), *(it["id"] for it in content["added_tokens"])]) + 1 + gap
    tokenizer = Tokenizer.from_str(json.dumps(content))
    if added:
        tokenizer.add_tokens([AddedToken(added, special=False, normalized=False)])
    text = saved(tokenizer, tmp_path)
    alone = [text.bytes_of(token) for token in range(text.num_tokens)]
    assert [text.id_of(raw) is not None for raw in alone] == [bool(raw) for raw in alone]
    assert text._bytes == alone
    assert text.bytes_of(vocab["Ġz"]) == b" z"
    assert not added or added.encode() in alone


def test_a_tokenizer_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    words = Tokenizer(models.WordLevel({"x": 0, "[UNK]": 1}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.add_special_tokens(list(MARKS))
    for content, match in (
        (toy_tokenizer(marks=MARKS[:1]).to_str(), r"no fill-in-the-middle.*<\|fim_middle\|>"),
        ('{"version": "1.0"', r"tokenizer\.json cannot be read"),
        (words.to_str(), "neither a byte-level tokenizer"),
    ):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(ModelError, match=match):
            read_fim_tokenizer(tmp_path)


STARCODER_MARKS = (
    *("<|endoftext|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>"),
    *("<fim_pad>", "<file_sep>", "<repo_name>"),
)
FIM_ONLY = tuple(mark for mark in MARKS if mark != "<|repo_name|>")

PROJECT = ProjectContext(
    repository="shop",
    path="shop/cart.py",
    chunks=(
        ContextChunk(path="shop/tax.py", text="RATE = 2\n\n"),
        ContextChunk(path="shop/price.py", text="def price(): ..."),
    ),
)


def prompt(text: FimTokenizer, project: ProjectContext, max_tokens: int = 500) -> str:
    """Return the whole prompt as text, with its marks."""
    ids = lay_out_project(text, project, max_tokens=max_tokens)
    context = text.context(text.encode("PRE"), text.encode("SUF"), ids)
    return "".join(
        text.special_tokens()[i] if i in text.end_ids else text.bytes_of(i).decode()
        for i in context
    )


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (
            MARKS,
            "<|repo_name|>shop\n"
            "<|file_sep|>shop/tax.py\nRATE = 2\n"
            "<|file_sep|>shop/price.py\ndef price(): ...\n"
            "<|file_sep|>shop/cart.py\n"
            "<|fim_prefix|>PRE<|fim_suffix|>SUF<|fim_middle|>",
        ),
        (
            STARCODER_MARKS,
            "<repo_name>shop"
            "<file_sep>shop/tax.py\nRATE = 2\n"
            "<file_sep>shop/price.py\ndef price(): ...\n"
            "<file_sep><fim_prefix>shop/cart.py\n"
            "PRE<fim_suffix>SUF<fim_middle>",
        ),
        (
            FIM_ONLY,
            "<|fim_prefix|># shop/tax.py\nRATE = 2\n\n# shop/price.py\ndef price(): ...\n\n"
            "# shop/cart.py\nPRE<|fim_suffix|>SUF<|fim_middle|>",
        ),
    ],
)
def test_code_of_other_files_stands_as_the_model_was_trained(tmp_path, marks, expected):
    assert prompt(saved(toy_tokenizer(marks=marks), tmp_path), PROJECT) == expected


@pytest.mark.parametrize("marks", [MARKS, FIM_ONLY])
def test_what_looks_like_a_mark_is_text_in_code_and_names(marks: tuple[str, ...], tmp_path: Path):
    text = saved(toy_tokenizer(marks=marks), tmp_path)
    evil = "".join(MARKS)
    harmless = lay_out_project(text, PROJECT, max_tokens=900)
    chunk = ContextChunk(path=f"a{evil}", text=evil)
    project = ProjectContext(repository=evil, path=evil, chunks=(chunk, chunk))
    ids = lay_out_project(text, project, max_tokens=900)

    def num_marks(ids: list[int]) -> int:
        return sum(token in text.end_ids for token in ids)

    assert len(ids) > 4 * len(evil)
    assert num_marks([*ids.before_mark, *ids.in_prefix]) == num_marks(
        [*harmless.before_mark, *harmless.in_prefix]
    )


def test_a_name_with_line_ends_stays_one_line(text: FimTokenizer) -> None:
    chunk = ContextChunk(path="a\nb.py", text="x")
    project = ProjectContext(repository="r\r\nr", path="c\n\nd.py", chunks=(chunk,))
    assert prompt(text, project).startswith(
        "<|repo_name|>r r\n<|file_sep|>a b.py\nx\n<|file_sep|>c d.py\n<|fim_prefix|>"
    )


def test_if_not_all_fit_the_last_are_kept_whole(text: FimTokenizer) -> None:
    whole = len(lay_out_project(text, PROJECT, max_tokens=500))
    shorter = prompt(text, PROJECT, whole - 1)
    assert "shop/tax.py" not in shorter
    assert "<|file_sep|>shop/price.py\ndef price(): ...\n" in shorter


@pytest.mark.parametrize("chunks", [(), (ContextChunk(path="a.py", text=" \n"),)])
def test_nothing_to_read_leaves_the_prompt_alone(text, chunks):
    project = ProjectContext(repository="r", path="a.py", chunks=chunks)
    assert prompt(text, project) == "<|fim_prefix|>PRE<|fim_suffix|>SUF<|fim_middle|>"


def test_a_huge_chunk_is_not_encoded(text: FimTokenizer) -> None:
    chunk = ContextChunk(path="a.py", text="x" * 50_000_000)
    project = ProjectContext(repository="r", path="a.py", chunks=(chunk,))
    assert len(lay_out_project(text, project, max_tokens=100)) == 0


chunks = st.builds(ContextChunk, path=st.text(max_size=9), text=st.text(max_size=60))


@given(
    project=st.builds(
        ProjectContext,
        repository=st.text(max_size=9),
        path=st.text(max_size=9),
        chunks=st.lists(chunks, max_size=4).map(tuple),
    ),
    max_tokens=st.integers(0, 120),
)
def test_there_are_never_more_tokens_than_allowed(text, project, max_tokens):
    ids = lay_out_project(text, project, max_tokens=max_tokens)
    assert len(ids) == 0 or len(ids) <= max_tokens


NAME = st.text(alphabet="detuné_", min_size=1, max_size=5)


@given(
    given_text=st.sampled_from(["", "x.", "x.de"]),
    names=st.lists(NAME, min_size=1, max_size=4),
    after=st.sampled_from(["(", " = 1", ".x", "\n", ""]),
    chance=st.randoms(),
)
def test_a_name_that_must_follow_is_written_whole(text, given_text, names, after, chance):
    _, healed = text.split_given(given_text)
    reachable = text.encode(healed.decode() + names[0] + after)
    for walk in (iter(reachable), None):  # what is right is allowed, what is allowed is right
        beginning, written = Beginning(text, healed, names), b""
        while beginning.is_bound:
            allowed = beginning.allowed().tolist()
            token = chance.choice(allowed) if walk is None else next(walk, None)
            if token is None:
                break  # the text ends with its name
            assert token in allowed
            beginning.take(token)
            written += text.bytes_of(token)
        rests = [written.removeprefix(healed + name.encode()) for name in names]
        assert any(len(rest) < len(written) and not is_name_byte(rest) for rest in rests)


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
