"""How probable it is that a user keeps a suggestion, or a part of one."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta

from intarsia.infill.suggestion import ConfidentToken, NoSuggestion
from intarsia.infill.syntax.text import PAIRS, balance_of

_LEAST = 1e-6
"""No token counts as less probable: how great a single surprise is tells nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Logarithms of probabilities, in nats and at most 0."""

    total: float  # of all tokens
    weakest: float  # of the least probable token
    end: float  # that the text ends here; 0 for a text that was cut, as it claims no end
    mean: float = 0.0  # of a token


def evidence_of(
    tokens: Sequence[ConfidentToken], end_confidence: float | None = None
) -> Evidence | None:
    """Return the evidence of a text in tokens; None where a confidence is not known.

    ``end_confidence`` is the probability that the text ends after them, None where that is left
    open.
    """
    logs = []
    for token in tokens:
        if token.confidence is None:
            return None
        logs.append(_log(token.confidence))
    end = 0.0 if end_confidence is None else _log(end_confidence)
    total = sum(logs)
    mean = total / max(1, len(logs))
    return Evidence(total=total, weakest=min(logs, default=0.0), end=end, mean=mean)


def _log(confidence: float) -> float:
    return math.log(min(1.0, max(_LEAST, confidence)))


_LEAST_ODDS = -100.0
"""The logarithm of odds below which no difference is made: ``math.exp`` has its limits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Coefficients of the log-odds. No weight is negative, so more confidence is never worse."""

    bias: float
    total: float
    weakest: float = 0.0
    end: float = 0.0
    mean: float = 0.0

    def __post_init__(self) -> None:
        if min(self.total, self.weakest, self.end, self.mean) < 0:
            raise ValueError(f"a weight is negative: {self}")

    def probability(self, evidence: Evidence) -> float:
        """Return the probability, 0 to 1, that a user keeps a text with this evidence."""
        odds = (
            self.bias
            + self.total * evidence.total
            + self.weakest * evidence.weakest
            + self.end * evidence.end
            + self.mean * evidence.mean
        )
        return 1 / (1 + math.exp(-max(odds, _LEAST_ODDS)))

    @property
    def while_typing(self) -> "Calibration":
        """The calibration of what is typed in code.

        Of many parts that is shown which looks best, so it is less probable than it looks.
        """
        return replace(self, bias=self.bias - _RARER)

    @property
    def in_prose(self) -> "Calibration":
        """The calibration of what is typed in comments and strings."""
        return Calibration(
            bias=_STEEPER * self.bias - _RARER_IN_PROSE,
            total=_STEEPER * self.total,
            weakest=_STEEPER * self.weakest,
            end=_STEEPER * self.end,
        )


_RARER = 0.4
_STEEPER, _RARER_IN_PROSE = 2.0, 1.5
"""How the log-odds of holes become those of typed code and prose
(docs/design-notes/show-threshold.md)."""

MayEndHere: TypeAlias = Callable[[str, str], bool]
"""Returns whether a beginning may be shown that the second string would continue."""

BODY_SHARE = 0.4
"""Of the percentage, for the whole body of a function: it saves ten times the keys of a line."""

LEAST_CHARS = 3
"""A shorter beginning is not worth reading. Blanks do not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPart:
    """The first ``length`` characters of a text are shown, 0 for none.

    ``probability`` is that of keeping the whole text, 0 to 1; None: not known, so all is shown.
    """

    length: int
    probability: float | None


def shown_part(
    tokens: Sequence[ConfidentToken],
    end_confidence: float | None,
    calibration: Calibration | None,
    percent: int,
    may_end_here: MayEndHere,
    line_before: str = "",
    of_body: Calibration | None = None,
) -> ShownPart:
    """Return how much of a text in tokens is shown: at least this probable to be kept.

    A user who wants p percent finds a text of that probability worth as much as none. What is above
    it is won with each character, so the part with the most to win is shown, (P - p) x characters:
    a likely word goes before a doubtful line. Without a calibration for the model, or the
    confidence of each token, all is shown. A part has the brackets right behind it that close its
    own, and those of ``line_before`` if it may end there. ``of_body`` tells of the whole text where
    that is a body, which may be less probable; None: no body, it is judged as its parts are.
    """
    text = "".join(token.text for token in tokens)
    probability = keep_probability(tokens, end_confidence, of_body or calibration)
    if probability is None or calibration is None or not percent:
        return ShownPart(length=len(text), probability=probability)
    parts = [
        (end, p - percent / 100)
        for it, p in _beginnings(tokens, calibration, percent)
        for end in {_closed(it, text, ""), _closed(it, text, line_before)}
        if _is_whole(end, text)
    ]
    gain = probability - percent / 100 * (1.0 if of_body is None else BODY_SHARE)
    if gain >= 0:
        parts.append((text, gain))
    parts.sort(key=lambda part: (part[1] * len(part[0]), len(part[0])))
    for shown, _ in reversed(parts):
        if may_end_here(shown, text[len(shown) :]):
            return ShownPart(length=len(shown), probability=probability)
    return ShownPart(length=0, probability=probability)


def keep_probability(
    tokens: Sequence[ConfidentToken], end_confidence: float | None, calibration: Calibration | None
) -> float | None:
    """Return the probability that a user keeps the whole text, None where it is not known."""
    evidence = evidence_of(tokens, end_confidence)
    return None if calibration is None or evidence is None else calibration.probability(evidence)


_CLOSERS = (")", "]", "}", ">")
_OPEN_TYPE = re.compile(r"\w<[\w.:&' ]+\Z|</?[A-Za-z][^<>\n]*\Z|<<[^<>\n]*>?\Z")
"""The beginning of a type's arguments, of a tag, or of Erlang's binary."""


def _beginnings(
    tokens: Sequence[ConfidentToken], calibration: Calibration, percent: int
) -> Iterator[tuple[str, float]]:
    """Yield each beginning that ends after a token and is probable enough, and how probable."""
    text, total, weakest = "", 0.0, 0.0
    for token in tokens[:-1]:
        if token.confidence is None:
            return
        log = _log(token.confidence)
        text, total, weakest = text + token.text, total + log, min(weakest, log)
        probability = calibration.probability(Evidence(total=total, weakest=weakest, end=0.0))
        if 100 * probability < percent:
            return
        yield text.rstrip(), probability


_LINE_END = re.compile(r"(?:[;,]|[ \t]+\\)(?=\n|\Z)")
"""What a line without its end would lack."""


def _closed(beginning: str, text: str, before: str) -> str:
    """Return the beginning with the marks right behind it that end what it or ``before`` began."""
    end = len(beginning)
    while text[end : end + 1] in _CLOSERS:
        code = before + text[:end]
        opened = balance_of(code).unclosed
        is_closed = bool(opened) and PAIRS[code[opened[-1]]] == text[end]
        if not is_closed and not (text[end] == ">" and _OPEN_TYPE.search(text, 0, end)):
            break
        end += 1
    ends_line = _LINE_END.match(text, end)
    return text[: ends_line.end() if ends_line else end]


def _is_whole(beginning: str, text: str) -> bool:
    """Whether a beginning ends at the edge of a word, and says something."""
    ends_in_word = _is_word(beginning[-1:]) and _is_word(text[len(beginning) :][:1])
    num_chars = sum(not char.isspace() for char in beginning)
    says_something = beginning.endswith((*_CLOSERS, ";")) or any(map(_is_word, beginning))
    return not ends_in_word and says_something and num_chars >= LEAST_CHARS


def _is_word(char: str) -> bool:
    return char.isalnum() or char in ("_", "$")


Level: TypeAlias = Literal["eager", "balanced", "subtle"]

LEVELS: Mapping[Level, int] = {"eager": 20, "balanced": 50, "subtle": 80}
"""The percentage of each level."""

_PATTERN = rf"^({'|'.join(get_args(Level))}|100|[1-9]?[0-9])$"

Threshold: TypeAlias = Annotated[str, Meta(pattern=_PATTERN)] | Annotated[int, Meta(ge=0, le=100)]
"""A level or a percentage. Editors with one type for each setting send a string."""

ABOUT_THRESHOLD = (
    "How probable it must be that you keep a suggestion before it is shown while you type: "
    + ", ".join(f'"{level}" ({percent} %)' for level, percent in LEVELS.items())
    + ", or a percentage from 0 (everything) to 100. If only the beginning of a "
    "suggestion is probable enough, only that is shown. When requested by a command, everything is "
    "shown."
)

IMPROBABLE = "improbable"
"""The kind of reason that is counted for a text below the threshold."""


def percent_of(threshold: Threshold) -> int:
    """Return the percentage that a threshold means. Raise ValueError where it is none."""
    for level, percent in LEVELS.items():
        if threshold == level:
            return percent
    if not re.fullmatch(_PATTERN.strip("^$"), str(threshold)):
        raise ValueError(f"neither a level nor a percentage from 0 to 100: {threshold!r}")
    return int(threshold)


_CANNOT_STAND_ALONE = "the text cannot stand alone here"


def improbable(probability: float | None, percent: int) -> NoSuggestion:
    """Return the reason why a text is not shown; ``probability`` is from 0 to 1."""
    if probability is not None and 100 * probability >= percent:
        return NoSuggestion(reason=_CANNOT_STAND_ALONE, kind=IMPROBABLE)
    found = "unknown" if probability is None else f"{100 * probability:.0f} %"
    return NoSuggestion(
        reason=f"the text would probably not be kept: {found}, and showThreshold is {percent} %",
        kind=IMPROBABLE,
    )
