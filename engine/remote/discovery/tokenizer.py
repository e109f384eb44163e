"""The tokenizer of a remote model: from the settings or the default model, checked by a probe.

With another tokenizer than the server's, every id would mean another text. So the server encodes
a sample and the marks of a hole too, and any difference is refused.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.model_store.catalog import DEFAULT_MODEL, find_model
from intarsia.engine.model_store.locate import catalog_folders
from intarsia.engine.remote.dialects.generation import IdsDialect
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.http.connections import Watch
from intarsia.engine.remote.http.exchange import ask_json, unusable
from intarsia.engine.remote.http.remotes import Remote

_BEGIN, _PAD, _ENDS = "<bos>", "<pad>", ("<eos>", "<turn|>")

_MARKS_AS_TEXT = " <|fim_middle|> <fim_middle>"

SAMPLE = (
    "def größe(x_1, *rest):\n\t'Return 3.14e10.'\n        return {'ключ': [x_1 != 42]}\r\n"
    f"#   中文 😀{_MARKS_AS_TEXT} camelCaseIdentifier->next(0xFF);\n\n\n    }}  \n"
)
"""Code with blanks, digits, marks as text and other scripts: tokenizers differ in these."""


def read_tokenizer(remote: Remote) -> FimTokenizer:
    """Return the tokenizer of the settings, or of the default model. Raises ModelError."""
    path = remote.tokenizer
    if path is None:
        return read_fim_tokenizer(_default_folder())
    folder = path.parent if path.name == "tokenizer.json" else path
    if not (folder / "tokenizer.json").is_file():
        raise ModelError(
            f"the tokenizer of remote:{remote.name} is missing: {folder} has no tokenizer.json; "
            "copy it there from the model's own repository"
        )
    return read_fim_tokenizer(folder)


def check_tokenizer(
    remote: Remote,
    server: Server,
    text: FimTokenizer | GemmaTokenizer,
    dialect: IdsDialect,
    watch: Watch,
) -> None:
    """Raise RemoteError if the server encodes the sample or a mark otherwise than this one."""

    def encoded(text: str, *, parse_marks: bool) -> list[int]:
        return _encoded(remote, dialect.tokenize_body(text, parse_marks=parse_marks), watch)

    marks = text.fim_marks() if isinstance(text, FimTokenizer) else text.special_marks()
    sample = SAMPLE if dialect.encodes_marks_as_text else SAMPLE.replace(_MARKS_AS_TEXT, "")
    if (
        (server.vocab_size is None or text.num_tokens <= server.vocab_size)
        and encoded(sample, parse_marks=False) == text.encode(sample)
        and all(encoded(mark, parse_marks=True) == [mark_id] for mark, mark_id in marks.items())
    ):
        return
    own = remote.tokenizer or f"that of {DEFAULT_MODEL}"
    kind = ", which must be a fill-in-the-middle model" if isinstance(text, FimTokenizer) else ""
    raise RemoteError(
        f"remote:{remote.name} has another tokenizer ({server.model}) than {own}: set `tokenizer` "
        f"to the tokenizer.json of the server's model{kind}",
        "model",
    )


def _encoded(remote: Remote, body: Mapping[str, Any], watch: Watch) -> list[int]:
    answer = ask_json(remote, "/tokenize", watch, body)
    ids = answer.get("tokens") if isinstance(answer, dict) else None
    if not isinstance(ids, list) or not all(isinstance(token, int) for token in ids):
        raise unusable(remote, "/tokenize has no list of tokens")
    return ids


def _default_folder() -> Path:
    """Return a converted folder of the default model: they all have its tokenizer."""
    row = find_model(DEFAULT_MODEL)
    assert row is not None
    for folder in catalog_folders(row):
        if (folder / "tokenizer.json").is_file():
            return folder
    raise ModelError(
        f"the tokenizer of {DEFAULT_MODEL} is not here: run `intarsia pull`, or set `tokenizer` of "
        "the remote to its model's tokenizer.json"
    )


def read_gemma_tokenizer(remote: Remote) -> GemmaTokenizer:
    """Return the tokenizer that the settings name. Raises ModelError."""
    path = remote.tokenizer
    advice = "set `tokenizer` to the tokenizer.json of the server's model"
    if path is None:
        raise ModelError(f"remote:{remote.name} serves DiffusionGemma: {advice}")
    folder = path.parent if path.name == "tokenizer.json" else path
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as fault:  # the library raises no narrower type
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder}/tokenizer.json cannot be read ({reason}): {advice}") from fault
    special = _special_ids(tokenizer, folder)
    if special is None:
        raise ModelError(f"{folder}/tokenizer.json is not DiffusionGemma's: {advice}")
    return GemmaTokenizer(tokenizer, special)


def _special_ids(tokenizer: Tokenizer, folder: Path) -> SpecialIds | None:
    """Return the ids, None if some are missing. A generation config may list more end tokens."""
    begin, pad = tokenizer.token_to_id(_BEGIN), tokenizer.token_to_id(_PAD)
    known = {i for i in map(tokenizer.token_to_id, _ENDS) if i is not None}
    ends = _configured_ends(folder / "generation_config.json", tokenizer.get_vocab_size()) or known
    if begin is None or pad is None or not ends:
        return None
    return SpecialIds(begin=begin, end=frozenset(ends), pad=pad)


def _configured_ends(path: Path, vocab_size: int) -> set[int]:
    """Return the end tokens of the model's own settings, none if these are not there."""
    try:
        ends = json.loads(path.read_bytes()).get("eos_token_id")
    except (OSError, ValueError, RecursionError, AttributeError):
        return set()
    listed = ends if isinstance(ends, list) else [ends]
    return {i for i in listed if type(i) is int and 0 <= i < vocab_size}
