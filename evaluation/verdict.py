"""What is to be said of one answer."""

import msgspec


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One answer, judged. What does not apply is None."""

    is_exact: bool  # equal to the truth, blanks at the ends apart
    similarity: float  # 0 to 1, normalised Levenshtein (indel) on characters
    is_empty: bool
    parses: bool | None  # no more syntax errors than the whole file has; None: it has some itself
    duplicates_suffix: bool  # it ends with a repetition of what stands behind the hole
    length_error: int  # characters more (or, negative, fewer) than the truth has
    passed: bool | None  # None: no test, or none was run
