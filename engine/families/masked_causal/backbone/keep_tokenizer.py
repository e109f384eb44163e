"""Keep a tokenizer in the form that is read sooner; run as a module with a tokenizer.json's path.

A process of its own, as a panic of the library ends it. What does not give the same tokens in both
forms is kept as nothing, so that it is not tried again.
"""

import json
import os
import random
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
from kitoken import Kitoken

from intarsia.engine.families.masked_causal.backbone.token_codec import (
    HubCodec,
    KeptCodec,
    KeptTokenizer,
    hub_codec,
    kept_files,
    kept_name,
    read_content,
)

_NUM_TEXTS, _TEXT_TOKENS = 200, 100


def keep(path: Path) -> None:
    """Keep a tokenizer, or that it cannot be kept. Raises OSError and ModelError."""
    content = read_content(path)
    if (files := kept_files()) is None:
        return
    name = kept_name(content)
    files.write(name, b"")  # in case the process ends here
    kept = kept_form(hub_codec(content, path), content)
    if kept is not None:
        files.write(name, kept)


def kept_form(codec: HubCodec, content: bytes) -> bytes | None:
    """Return what is kept of a tokenizer, None if that would not be the same tokenizer."""
    if not codec.is_plain:
        return None
    listed = codec.all_bytes()
    try:
        model = Kitoken.from_tokenizers(
            json.dumps({**json.loads(content), "added_tokens": []}).encode()
        )
    except ValueError:
        return None
    kept = msgspec.msgpack.encode(
        KeptTokenizer(
            special=codec.special,
            begin=codec.begin_ids,
            num_tokens=len(listed),
            model=model.to_bytes(),
        )
    )
    other = KeptCodec(kept, lambda: codec)
    is_same = other.all_bytes() == listed and all(
        other.encode(text) == codec.encode(text) for text in _texts(listed)
    )
    return kept if is_same else None


def _texts(listed: list[bytes]) -> list[str]:
    """Return texts of random tokens, marks among them: the same ones each time."""
    draw = random.Random(0)
    joints = (b"", b" ", b"\n", b"\n    ", b"<|fim_prefix|>")
    return [
        draw.choice(joints).join(draw.choices(listed, k=_TEXT_TOKENS)).decode(errors="replace")
        for _ in range(_NUM_TEXTS)
    ]


if __name__ == "__main__":
    with suppress(AttributeError):  # not on Windows
        os.nice(19)
    keep(Path(sys.argv[1]))
