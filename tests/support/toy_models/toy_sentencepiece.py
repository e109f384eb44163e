"""A toy tokenizer as SentencePiece's BPE is converted: blanks as ▁, bytes as <0x0A>, a first token.

Llama's adds a blank before each text, Gemma's does not.
"""

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors

_MERGES = (("d", "e"), ("de", "f"), ("▁", "▁"), ("▁", "def"), ("r", "e"), ("re", "t"), ("▁", "x"))
_BEGIN = "<s>"


def toy_sentencepiece(*, marks: tuple[str, ...], adds_blank: bool) -> Tokenizer:
    """Return the tokenizer; each text begins with <s>, and <table> is a plain added token."""
    letters = sorted(chr(code) for code in range(33, 127))
    tokens = ["<unk>", _BEGIN, "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *letters]
    vocab = {token: i for i, token in enumerate([*tokens, *("".join(pair) for pair in _MERGES)])}
    tokenizer = Tokenizer(
        models.BPE(
            vocab=vocab, merges=list(_MERGES), byte_fallback=True, unk_token="<unk>", fuse_unk=True
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
