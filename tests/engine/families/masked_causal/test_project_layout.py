"""Code of other files before a prompt: the backbone's own format, limits, and plain text else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from toy_causal_tokenizer import MARKS, toy_tokenizer

from intarsia.engine.families.masked_causal.project_layout import lay_out_project
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext

STARCODER_MARKS = (
    "<|endoftext|>",
    "<fim_prefix>",
    "<fim_middle>",
    "<fim_suffix>",
    "<fim_pad>",
    "<file_sep>",
    "<repo_name>",
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


def saved(tokenizer: Tokenizer, folder: Path) -> FimTokenizer:
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return read_fim_tokenizer(folder)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> FimTokenizer:
    return saved(toy_tokenizer(), tmp_path_factory.mktemp("tokenizer"))


def prompt(text: FimTokenizer, project: ProjectContext, max_tokens: int = 500) -> str:
    """Return the whole prompt as text, with its marks."""
    ids = lay_out_project(text, project, max_tokens=max_tokens)
    context = text.context(text.encode("PRE"), text.encode("SUF"), ids)
    return "".join(
        text._tokenizer.id_to_token(i) if i in text.end_ids else text.bytes_of(i).decode()
        for i in context
    )


def test_qwens_format(text: FimTokenizer) -> None:
    assert prompt(text, PROJECT) == (
        "<|repo_name|>shop\n"
        "<|file_sep|>shop/tax.py\nRATE = 2\n"
        "<|file_sep|>shop/price.py\ndef price(): ...\n"
        "<|file_sep|>shop/cart.py\n"
        "<|fim_prefix|>PRE<|fim_suffix|>SUF<|fim_middle|>"
    )


def test_starcoders_format(tmp_path: Path) -> None:
    text = saved(toy_tokenizer(marks=STARCODER_MARKS), tmp_path)
    assert prompt(text, PROJECT) == (
        "<repo_name>shop"
        "<file_sep>shop/tax.py\nRATE = 2\n"
        "<file_sep>shop/price.py\ndef price(): ...\n"
        "<file_sep><fim_prefix>shop/cart.py\n"
        "PRE<fim_suffix>SUF<fim_middle>"
    )


def test_without_marks_it_is_plain_text(tmp_path: Path) -> None:
    text = saved(toy_tokenizer(marks=FIM_ONLY), tmp_path)
    assert prompt(text, PROJECT) == (
        "<|fim_prefix|># shop/tax.py\nRATE = 2\n\n# shop/price.py\ndef price(): ...\n\n"
        "# shop/cart.py\nPRE<|fim_suffix|>SUF<|fim_middle|>"
    )


@pytest.mark.parametrize("marks", [MARKS, FIM_ONLY])
def test_what_looks_like_a_mark_is_text_in_code_and_names(
    marks: tuple[str, ...], tmp_path: Path
) -> None:
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
def test_nothing_to_read_leaves_the_prompt_alone(
    text: FimTokenizer, chunks: tuple[ContextChunk, ...]
) -> None:
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
def test_there_are_never_more_tokens_than_allowed(
    text: FimTokenizer, project: ProjectContext, max_tokens: int
) -> None:
    ids = lay_out_project(text, project, max_tokens=max_tokens)
    assert len(ids) == 0 or len(ids) <= max_tokens
