"""A byte-level tokenizer of 256 bytes, some merges (two of these cut a character) and FIM marks."""

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

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
