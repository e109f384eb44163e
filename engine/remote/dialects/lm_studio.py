"""LM Studio's server: our own prompt as text to ``/v1/completions``, and events of text back.

Follows the documentation of LM Studio (its pages on OpenAI compatibility). It tells no
probabilities of completions.
"""

from typing import ClassVar

from intarsia.engine.remote.dialects.completions import (
    PATH,
    Parameters,
    parse_event,
    stop_kind,
)
from intarsia.engine.remote.dialects.text_generation import (
    AnswerForm,
    TextChunk,
    TextGeneration,
    TextPiece,
)


class LmStudio:
    """The dialect of LM Studio."""

    path: ClassVar[str] = PATH
    form: ClassVar[AnswerForm] = "events"
    part_tokens: ClassVar[int | None] = None

    def __init__(self, model: str) -> None:
        self._model = model

    def body(self, generation: TextGeneration) -> Parameters:
        """Return the request, with all of the sampling settings that its documentation names."""
        return {
            "model": self._model,
            "prompt": generation.prompt,
            "max_tokens": generation.max_tokens,
            "temperature": generation.temperature,
            "top_p": 1.0,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "repeat_penalty": 1.0,
            "seed": generation.seed % 2**31,
            "stop": list(generation.stop),
            "stream": True,
        }

    def parse(self, data: bytes) -> TextChunk | None:
        """Return an event of the answer. Raises UnusableAnswer, ServerBusy."""
        event = parse_event(data, "LM Studio")
        if event is None:
            return TextChunk(is_last=True)
        stop, text = stop_kind(event.choice, None), event.choice.text
        return TextChunk(
            pieces=(TextPiece(text=text),) if text else (),
            stop=None if stop is None else "limit" if stop == "limit" else "end",
            model=event.model,
        )
