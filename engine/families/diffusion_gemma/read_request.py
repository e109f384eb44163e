"""Turn a request into token ids: the context to read, and what the canvas shows. No torch."""

from dataclasses import dataclass

from msgspec.structs import replace

from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, HoleLayout, lay_out
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.project_text import ProjectIds, as_plain_text
from intarsia.engine.families.protocol import NumMissing, ReadingSpeed
from intarsia.engine.families.validate_request import (
    bounded,
    require_common_fields,
    require_draft,
    require_range,
)
from intarsia.engine.ipc.messages import Fill


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleTask:
    """A request as token ids. ``draft`` is empty unless present text is to be rewritten."""

    request: Fill
    context: list[int]
    project: ProjectIds  # in the context
    given: list[int]
    num_given_in_context: int
    draft: list[int]
    suffix: list[int]

    @property
    def num_project(self) -> int:
        """Context tokens of other files."""
        return len(self.project)

    @property
    def given_in_canvas(self) -> list[int]:
        return self.given[self.num_given_in_context :]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelLimits:
    """Sizes of a model. ``max_positions``: of context and canvas together."""

    vocab_size: int
    canvas_length: int
    max_positions: int
    max_context_tokens: int


class RequestReader:
    """Encodes requests for one model."""

    def __init__(self, text: GemmaTokenizer, limits: ModelLimits) -> None:
        self._text = text
        self._limits = limits
        self._sizes = CanvasSizes(canvas_length=limits.canvas_length)

    def choose_context(
        self, request: Fill, num_missing: NumMissing, speed: ReadingSpeed
    ) -> HoleTask:
        """Return the task with code of other files if it may wait for that, or need not wait."""
        task = self.read(request)
        if not task.num_project or request.project_use == "always":
            return task
        own = self.read(replace(request, project=None))
        missing = num_missing(task.context), num_missing(own.context)
        return task if speed.is_worth_reading(*missing) else own

    def read(self, request: Fill) -> HoleTask:
        """Encode a request; what the canvas cannot show goes to the context. Raises ValueError."""
        limits = self._limits
        require_common_fields(request, vocab_size=limits.vocab_size)
        request = bounded(request, max_context_tokens=limits.max_context_tokens)
        given, suffix = self._text.encode(request.given), self._text.encode(request.suffix)
        far_suffix = request.suffix if len(suffix) > self._sizes.max_suffix else ""
        num_early = max(len(given) - self._sizes.max_given, 0)
        if request.chat is None:
            context = self._text.context(request.prefix, far_suffix)
        else:  # its draft may be repeated, or not: another length is often needed
            context = self._text.chat_context(request.chat)
            request = replace(request, prefix="", draft="", project=None)
        context += given[:num_early]
        if len(context) > limits.max_context_tokens:
            raise ValueError(
                f"prefix and suffix have {len(context)} tokens, above the limit of "
                f"{limits.max_context_tokens}: send less text"
            )
        room = limits.max_positions - limits.canvas_length - len(context)
        require_range("max_tokens", request.max_tokens, least=1, most=room)
        max_project = min(room - request.max_tokens, limits.max_context_tokens // 2)
        project = as_plain_text(request.project, self._text.encode, max_tokens=max_project)
        if len(project):
            context = self._text.context(request.prefix, far_suffix, project)
            context += given[:num_early]
        return HoleTask(
            request=request,
            context=context,
            project=project,
            given=given,
            num_given_in_context=num_early,
            draft=self._draft(request),
            suffix=suffix,
        )

    def lay_out(self, task: HoleTask, num_free: int) -> tuple[HoleLayout, ...]:
        """Return the canvases of a hole of ``num_free`` tokens."""
        special = self._text.special
        return lay_out(
            task.given_in_canvas,
            num_free,
            task.suffix,
            sizes=self._sizes,
            end_id=special.first_end,
            pad_id=special.pad,
        )

    def without_suffix(self, task: HoleTask) -> list[int]:
        """Return the context of a task without a suffix that the canvas cannot show whole."""
        if len(task.suffix) <= self._sizes.max_suffix:
            return task.context
        plain = self._text.context(task.request.prefix, "", task.project)
        return plain + task.given[: task.num_given_in_context]

    def _draft(self, request: Fill) -> list[int]:
        draft = self._text.encode(request.draft)
        require_draft(len(draft), request)
        return draft
