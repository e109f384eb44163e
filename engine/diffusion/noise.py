"""How much of a draft a rewrite noises."""


def num_noised(num_tokens: int, noise: float) -> int:
    """Return the number of tokens in this share: at least one, so that a rewrite may change it."""
    return min(num_tokens, max(1, round(noise * num_tokens)))
