"""A byte-level tokenizer of 256 bytes, some merges (two of these cut a character) and FIM marks."""

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

MARKS = (
    "<|endoftext|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|file_sep|>",
    "<|repo_name|>",
)
_MERGES = (
    ("d", "e"),
    ("de", "f"),
    ("r", "e"),
    ("re", "t"),
    ("u", "r"),
    ("ur", "n"),
    ("ret", "urn"),
    ("Ġ", "Ġ"),
    ("ĠĠ", "ĠĠ"),
    ("Ġ", "return"),
    ("v", "a"),
    ("va", "l"),
    ("Ġ", "val"),
    ("Ã", "©"),  # é
    ("Ġ", "ð"),  # a blank and the first byte of many a picture sign
    ("ðŁ", "ĺ"),  # three of its four bytes
    ("ð", "Ł"),
)
_SPLIT = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def toy_tokenizer(*, marks: tuple[str, ...] = MARKS, are_marks_special: bool = True) -> Tokenizer:
    """Return the tokenizer; Qwen's own files list most of its marks as no special tokens."""
    merges = sorted(_MERGES, key=lambda pair: len("".join(pair)))
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(
        models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges)
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(
        [
            AddedToken(mark, special=are_marks_special or i == 0, normalized=False)
            for i, mark in enumerate(marks)
        ]
    )
    return tokenizer


def num_toy_tokens() -> int:
    return toy_tokenizer().get_vocab_size(with_added_tokens=True)


_SP_MERGES = (
    *(("d", "e"), ("de", "f"), ("▁", "▁"), ("▁", "def")),
    *(("r", "e"), ("re", "t"), ("▁", "x")),
)
_BEGIN = "<s>"


def toy_sentencepiece(*, marks: tuple[str, ...], adds_blank: bool) -> Tokenizer:
    """Return the tokenizer; each text begins with <s>, and <table> is a plain added token."""
    letters = sorted(chr(code) for code in range(33, 127))
    tokens = ["<unk>", _BEGIN, "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *letters]
    vocab = {token: i for i, token in enumerate([*tokens, *("".join(pair) for pair in _SP_MERGES)])}
    tokenizer = Tokenizer(
        models.BPE(
            vocab=vocab,
            merges=list(_SP_MERGES),
            byte_fallback=True,
            unk_token="<unk>",
            fuse_unk=True,
        )
    )
    blanks = normalizers.Replace(" ", "▁")
    tokenizer.normalizer = (
        normalizers.Sequence([normalizers.Prepend("▁"), blanks]) if adds_blank else blanks
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_special_tokens(
        [AddedToken(token, normalized=False) for token in ("<unk>", _BEGIN, "</s>")]
    )
    tokenizer.add_tokens([AddedToken(mark, normalized=False) for mark in (*marks, "<table>")])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{_BEGIN} $A", special_tokens=[(_BEGIN, tokenizer.token_to_id(_BEGIN))]
    )
    return tokenizer
