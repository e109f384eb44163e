"""The tokenizer of a remote DiffusionGemma, from the settings, checked against the server's."""

import json
from pathlib import Path

from tokenizers import Tokenizer

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.remote.dialects.generation import Tokenizes
from intarsia.engine.remote.discovery.tokenizer import encodes_alike
from intarsia.engine.remote.http.watch import Watch
from intarsia.engine.remote.settings.remotes import Remote

_BEGIN, _PAD, _ENDS = "<bos>", "<pad>", ("<eos>", "<turn|>")


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


def check_gemma_tokenizer(
    remote: Remote, text: GemmaTokenizer, dialect: Tokenizes, watch: Watch
) -> None:
    """Raise RemoteError if the server's tokenizer is not this one."""
    if not encodes_alike(remote, text.encode, text.special_marks(), dialect, watch):
        raise RemoteError(
            f"remote:{remote.name} has another tokenizer than {remote.tokenizer}: set `tokenizer` "
            "to the tokenizer.json of the server's model",
            "model",
        )


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
