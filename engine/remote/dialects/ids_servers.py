"""SGLang and vLLM with a causal model: token ids to ``/v1/completions``, and back."""

import re
from collections.abc import Callable

from intarsia.engine.remote.dialects.completions import (
    IdsServer,
    chunk_of,
    parse_event,
)
from intarsia.engine.remote.dialects.generation import (
    Chunk,
    Generation,
    Parameters,
    UnusableAnswer,
)

_MAX_LOGPROBS = 20  # of a server that was started without `--max-logprobs`
_BACKGROUND_PRIORITY = 1  # less urgent than 0, which requests have otherwise
_ID = "token_id:"


def parse_chunk(data: bytes) -> Chunk | None:
    """Return a piece of a streamed completion. Raises UnusableAnswer, ServerBusy.

    The usage says what was reused with `--enable-prompt-tokens-details`.
    """
    event = parse_event(data, "vLLM")
    if event is None:
        return None
    scored = event.choice.logprobs
    ids = [] if scored is None else [_id_of(token) for token in scored.tokens]
    return chunk_of(event, ids, _id_of, event.choice.stop_reason)


class Vllm(IdsServer):
    """The dialect of vLLM. NVIDIA's NIM 2 runs it too.

    Follows vllm/entrypoints/openai/completion of vllm-project/vllm 0.32 and 0.33. Prompts are ids
    that we lay out: its ``suffix`` is refused for almost every model.

    ``has_priorities``: the server schedules by priority. Another one may refuse any but 0, as its
    documentation says; 0.32 ignores them.
    """

    parse = staticmethod(parse_chunk)

    def __init__(self, model: str, *, cache_salt: str, has_priorities: bool = False) -> None:
        super().__init__(model, cache_salt=cache_salt)
        self._has_priorities = has_priorities

    def body(self, generation: Generation) -> Parameters:
        body = self._ids_body(generation) | {
            "include_stop_str_in_output": False,
            "logprobs": min(generation.num_likely, _MAX_LOGPROBS),
            "return_tokens_as_token_ids": True,
        }
        if generation.beginning:
            beginning = re.escape(generation.beginning.decode())
            body["structured_outputs"] = {"regex": f"{beginning}[\\s\\S]*"}
        if generation.is_background and self._has_priorities:
            body["priority"] = _BACKGROUND_PRIORITY
        return body


def _id_of(token: str) -> int:
    number = token.removeprefix(_ID)
    if not token.startswith(_ID) or not number.isdecimal():
        raise UnusableAnswer("a token has no id: update the server to vLLM 0.32 or newer")
    return int(number)


class Sglang(IdsServer):
    """The dialect of SGLang. Follows srt/entrypoints/openai of sgl-project/sglang 0.5.23.

    With `--completion-template` it prints a list of ids into its template as text, unless
    ``suffix`` is an empty text: so that is always sent. ``priority`` never is: servers may refuse
    it. The likely tokens come as texts: ``id_of`` returns the token with these bytes, or None.
    """

    def __init__(
        self, model: str, *, cache_salt: str, id_of: Callable[[bytes], int | None]
    ) -> None:
        super().__init__(model, cache_salt=cache_salt)
        self._id_of = id_of

    def body(self, generation: Generation) -> Parameters:
        body = self._ids_body(generation) | {
            "suffix": "",
            "logprobs": generation.num_likely,
            "return_token_ids": True,
        }
        if generation.beginning:
            body["regex"] = f"{re.escape(generation.beginning.decode())}[\\s\\S]*"
        return body

    def parse(self, data: bytes) -> Chunk | None:
        """Return a piece of the answer. Raises UnusableAnswer, ServerBusy.

        The usage says what was reused with `--enable-cache-report`.
        """
        event = parse_event(data, "SGLang")
        if event is None:
            return None
        scored, ids = event.choice.logprobs, event.choice.token_ids
        if ids is None and scored is not None and scored.tokens:
            raise UnusableAnswer("a token has no id: update the server to SGLang 0.5.23 or newer")
        return chunk_of(event, ids or (), self._token_of, event.choice.matched_stop)

    def _token_of(self, text: str) -> int | None:
        """Return a text's token; None for what may be a piece of a character, as Latin-1."""
        is_piece = any("\x80" <= sign <= "\xff" for sign in text) and max(text) <= "\xff"
        return None if is_piece else self._id_of(text.encode("utf-8", "replace"))
