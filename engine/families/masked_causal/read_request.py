"""Read a request as token ids: context, half-typed bytes, draft. Knows no model."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from intarsia.engine.families.chat_form import NOT_TOLD, Following
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.context_boundary import (
    MAX_CHARS_AFTER,
    ContextBoundaries,
    ContextBoundary,
    boundary_offset,
)
from intarsia.engine.families.project_text import (
    NO_PROJECT,
    ProjectIds,
    as_plain_text,
    chunk_text,
    has_chunks,
    last_that_fit,
    one_line,
)
from intarsia.engine.families.protocol import NumMissing, ReadingSpeed
from intarsia.engine.families.validate_request import (
    bounded,
    require_common_fields,
    require_draft,
    require_range,
    require_temperature,
)
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import MAX_NAMES, ChatTurn, Fill, ProjectContext


def lay_out_project(
    text: FimTokenizer, project: ProjectContext | None, *, max_tokens: int
) -> ProjectIds:
    """Return other files as ids, empty if no chunk fits into ``max_tokens``.

    They are laid out as the backbone saw repositories in its training, such as Qwen2.5-Coder's
    (arXiv 2409.12186), or as plain text. If not all fit, the first ones are left out.
    """
    marks = text.repository
    if marks is None or project is None:
        plain = as_plain_text(project, text.encode, max_tokens=max_tokens)
        return ProjectIds(in_prefix=(*plain.before_mark, *plain.in_prefix))
    mark = text.mark_id(marks.before_file)
    name = text.encode(one_line(project.repository) + marks.after_name)
    start = [text.mark_id(marks.before_name), *name]
    own_path = text.encode(one_line(project.path) + "\n")
    files = last_that_fit(
        project.chunks,
        lambda chunk: [mark, *text.encode(f"{one_line(chunk.path)}\n{chunk_text(chunk)}")],
        max_tokens=max_tokens - len(start) - 1 - len(own_path),
    )
    if not files:
        return NO_PROJECT
    if marks.is_path_in_prefix:
        return ProjectIds(before_mark=[*start, *files, mark], in_prefix=own_path)
    return ProjectIds(before_mark=[*start, *files, mark, *own_path])


_BLANKS = (" ", "\t")
_SUFFIX_SHARE = 0.25  # of the context, if prefix and suffix together are too long
_AFTER_SHARE = 0.5  # of the context length, for text between its boundary and the hole
_PROJECT_SHARE = 0.5  # of the context length: other files take no room from prefix and suffix


@dataclass(frozen=True, kw_only=True, slots=True)
class FillTask:
    """A request as token ids, and the control of its fill."""

    request: Fill
    context: list[int]
    healed: bytes  # the last given token's bytes: the first token must continue them
    draft: list[int]  # to be rewritten; empty for a fill from nothing
    suffix: list[int]  # of a draft only; a fill sees it in its context
    control: FillControl
    repeated: Sequence[int] = ()  # ids that the answer to a chat turn may repeat
    num_project: int = 0  # context tokens of other files
    new_boundary: ContextBoundary | None = None  # to be remembered once the context is used
    is_far: bool = False  # the hole is far after the boundary of its context
    is_turn: bool = False  # its context is a question, not the text around a hole

    @property
    def may_be_warm(self) -> bool:
        """Whether it may start from an earlier answer: only speculative decoding may."""
        request = self.request
        is_other = bool(request.alternative or request.fresh or request.draft or self.is_turn)
        return request.decoding == "speculative" and not is_other


class ContextTooLong(ValueError):
    """A question has more tokens than the model's context."""


class _SplitContext(NamedTuple):
    """A context, and the text between its end and the hole."""

    boundary: ContextBoundary
    text_after: str
    is_new: bool  # it has a boundary that was not remembered so far


class RequestReader:
    """Reads requests, and remembers where the contexts of those that were used ended."""

    def __init__(
        self,
        text: FimTokenizer,
        *,
        vocab_size: int,
        max_context_tokens: int,
        following: Following = NOT_TOLD,
    ) -> None:
        self._text = text
        self._following = following
        self._vocab_size = vocab_size
        self._max_context_tokens = max_context_tokens
        self._boundaries = ContextBoundaries()
        self._far_request: Fill | None = None  # the last request, if far after its boundary
        self._last_project: tuple[ProjectContext | None, ProjectIds] = (None, NO_PROJECT)

    def read(self, request: Fill, control: FillControl) -> FillTask:
        """Return the request as token ids. Raises ValueError for a field out of its range."""
        self._check(request)
        request = bounded(request, max_context_tokens=self._max_context_tokens)
        draft = self._text.encode(request.draft)
        require_draft(len(draft), request)
        if request.chat is not None:
            self._following.require()
            return self._read_turn(request, request.chat, draft, control)
        if request.asked is not None and self.is_asked(request):
            with suppress(ContextTooLong):
                return self._read_turn(request, request.asked, draft, control)
        if request.noise >= 1:
            draft = []  # all of it would be masked
        # A draft is encoded on its own, so its context must end where the hole begins.
        split = self._whole_context(request) if draft else self._split_context(request)
        ids_after, healed = split_after_context(
            self._text, split.text_after, request.given, is_open=not draft
        )
        return FillTask(
            request=request,
            context=[*split.boundary.context, *ids_after],
            healed=healed,
            draft=draft,
            suffix=self._text.encode(request.suffix)[: self._max_context_tokens] if draft else [],
            control=control,
            num_project=split.boundary.num_project,
            new_boundary=split.boundary if split.is_new else None,
            is_far=not split.is_new and len(split.text_after) > MAX_CHARS_AFTER // 2,
        )

    def _read_turn(
        self, request: Fill, turn: ChatTurn, draft: list[int], control: FillControl
    ) -> FillTask:
        begun, healed = self._text.encode(request.given), b""
        if request.chat is None:
            begun, healed = split_after_context(self._text, turn.begun, request.given)
        context = [*self._text.chat_context(turn), *begun]
        if len(context) > self._max_context_tokens:
            raise ContextTooLong(
                f"the instruction and its code have {len(context)} tokens, above the limit of "
                f"{self._max_context_tokens}: select less"
            )
        return FillTask(
            request=request,
            context=context,
            healed=healed,
            draft=[],
            suffix=[],
            control=control,
            repeated=draft,
            is_turn=True,
        )

    def is_asked(self, request: Fill) -> bool:
        """Whether the hole is filled by asking for its text."""
        return request.asked is not None and not request.draft and not self._following.refusal

    def use(self, task: FillTask) -> None:
        """Record that the context of this task is opened: later requests may share its boundary."""
        self._far_request = task.request if task.is_far else None
        if task.new_boundary is not None:
            self._boundaries.remember(task.new_boundary)

    def boundary_to_prepare(self) -> ContextBoundary | None:
        """Return, once, a nearer boundary if that of the last request is far from its hole."""
        request, self._far_request = self._far_request, None
        return None if request is None else self._new_boundary(request)

    def remember(self, boundary: ContextBoundary) -> None:
        """Use this boundary for the requests after it."""
        self._boundaries.remember(boundary)

    def _check(self, request: Fill) -> None:
        require_range("max_tokens", request.max_tokens, least=1, most=self._max_context_tokens)
        require_range("num_candidates", request.num_candidates, least=1, most=64)
        require_common_fields(request, vocab_size=self._vocab_size)
        require_range("the number of names", len(request.names), least=0, most=MAX_NAMES)
        require_temperature(request.temperature)

    def _split_context(self, request: Fill) -> _SplitContext:
        """Return the context to open, and the text of the prefix after its boundary."""
        found = self._boundaries.find(request.prefix, request.suffix, request.project)
        boundary = self._new_boundary(request) if found is None else found.boundary
        if boundary is not None:
            text_after = request.prefix[len(boundary.prefix) :]
            if self._text.is_within(text_after, int(self._max_context_tokens * _AFTER_SHARE)):
                return _SplitContext(boundary, text_after, is_new=found is None)
        return self._whole_context(request)

    def _whole_context(self, request: Fill) -> _SplitContext:
        """Return a context that ends where the hole begins."""
        return _SplitContext(self._boundary_at(request, len(request.prefix)), "", is_new=False)

    def _new_boundary(self, request: Fill) -> ContextBoundary | None:
        offset = boundary_offset(request.prefix)
        return None if offset is None else self._boundary_at(request, offset)

    def _boundary_at(self, request: Fill, offset: int) -> ContextBoundary:
        prefix, suffix = request.prefix[:offset], request.suffix
        project = self._project_ids(request.project)
        ids = self._trim(self._text.encode(prefix), self._text.encode(suffix))
        return ContextBoundary(
            prefix=prefix,
            suffix=suffix,
            context=self._text.context(*ids, project),
            project=request.project,
            num_project=len(project),
        )

    def _project_ids(self, project: ProjectContext | None) -> ProjectIds:
        if project is None:
            return NO_PROJECT
        if self._last_project[0] != project:
            max_tokens = int(self._max_context_tokens * _PROJECT_SHARE)
            ids = lay_out_project(self._text, project, max_tokens=max_tokens)
            self._last_project = project, ids
        return self._last_project[1]

    def _trim(self, prefix: list[int], suffix: list[int]) -> tuple[list[int], list[int]]:
        """Keep the tokens nearest the hole: the sender limits characters, not tokens."""
        if len(prefix) + len(suffix) <= self._max_context_tokens:
            return prefix, suffix
        least = int(self._max_context_tokens * _SUFFIX_SHARE)
        num_suffix = min(len(suffix), max(least, self._max_context_tokens - len(prefix)))
        num_prefix = self._max_context_tokens - num_suffix
        return prefix[-num_prefix:], suffix[:num_suffix]


def split_after_context(
    text: FimTokenizer, text_after: str, given: str, *, is_open: bool = True
) -> tuple[list[int], bytes]:
    """Return the ids between context and hole, and the bytes of the last given tokens.

    These bytes only constrain the first token of the hole (token healing), and are empty unless
    the end is open: a draft follows whole tokens. Both texts are encoded as one, because a token
    may cover the end of one and the start of the other (":" and ":"). Blanks are always open: the
    model writes them together with the word that follows.
    """
    if is_open and (given or text_after[-1:] in _BLANKS):
        return text.split_given(text_after + given)
    return text.encode(text_after + given), b""


class ProjectChoice:
    """Reads requests with the code of other files that is worth its time."""

    def __init__(self, reader: RequestReader, num_missing: NumMissing, speed: ReadingSpeed) -> None:
        self._reader = reader
        self._num_missing = num_missing
        self._speed = speed
        self._last_read: Fill | None = None  # the last request with a project that was read
        self.unread: Fill | None = None  # the last request, if it could not wait for its project

    def read(self, request: Fill, control: FillControl) -> FillTask:
        """Return the task with code of other files if it may wait for that, or need not wait.

        Until other chunks of the same file are read, those that were read before serve instead.
        """
        self.unread = None
        if not has_chunks(request.project) or self._reader.is_asked(request):
            request = replace(request, project=None)
        task = self._reader.read(request, control)
        if request.project is None or request.project_use == "always":
            return task
        num_missing = self._num_missing(task.context)
        if self._speed.is_worth_reading(num_missing, 0):
            return task
        last = self._last_read
        if last is not None and _may_serve(last, request):
            earlier = self._reader.read(replace(request, project=last.project), control)
            if self._speed.is_worth_reading(self._num_missing(earlier.context), 0):
                self.unread = request
                return earlier
        own = self._reader.read(replace(request, project=None), control)
        if self._speed.is_worth_reading(num_missing, self._num_missing(own.context)):
            return task
        self.unread = request
        return own

    def note_read(self, task: FillTask) -> None:
        """Record that the context of a task was read: its project may serve later requests."""
        if task.num_project:
            self._last_read = task.request


def _may_serve(earlier: Fill, request: Fill) -> bool:
    """Return whether an earlier request's chunks may serve this one: those of the same file."""
    own, other = request.project, earlier.project
    return (
        own is not None
        and other is not None
        and (own.repository, own.path) == (other.repository, other.path)
    )
