"""Fills a case by the engine's own client, without a language server: the same text, sooner.

The plan, the cleaning and the last look are those that the server has (``infill/filling/plan.py``).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.errors import EngineError, EngineUnavailable, FillFailed
from intarsia.engine.ipc.messages import ProjectContext
from intarsia.infill.filling.outcome import FillResult, run_plan
from intarsia.infill.filling.plan import Attempts, EngineCost, FillOptions, FillPlan
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer, Failures, failed
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import SystemInfo
from intarsia_research.evaluation.systems.client import (
    SLACK_S,
    described,
    described_engine,
    patient,
    plan_case,
)
from intarsia_research.evaluation.systems.project_context import WithContext

_GONE_FOR_GOOD = ("model", "out_of_memory")


class Direct:
    """``name`` None: by how it settles. ``address`` None: the user's own engine.

    ``context`` None: no code of other files. Without ``may_ask`` no body is asked for.
    """

    def __init__(
        self,
        options: FillOptions | None = None,
        *,
        name: str | None = None,
        address: Address | None = None,
        context: WithContext | None = None,
        may_ask: bool = True,
    ) -> None:
        self._options = patient(options or FillOptions())
        self._address = address
        self._context = context
        self._may_ask = may_ask
        self.name = name or self._options.decoding

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["DirectClient"]:
        """Start the engine where none runs, and have the model loaded. Raises EvaluationFault."""
        async with EngineClient(name="eval", address=self._address) as client:
            try:
                loaded = await client.preload(self._options.model)
                engine = await described_engine(self._address)
            except EngineError as error:
                raise EvaluationFault(str(error)) from error
            info = SystemInfo(
                name=self.name,
                way="direct",
                model=loaded.model,
                details=described(self._options) | described_context(self._context) | engine,
            )
            try:
                yield DirectClient(
                    client, self._options, info, self._context, may_ask=self._may_ask
                )
            finally:
                if self._context is not None:
                    self._context.projects.close()


class DirectClient:
    """Asks through one connection."""

    def __init__(
        self,
        client: EngineClient,
        options: FillOptions,
        info: SystemInfo,
        context: WithContext | None = None,
        *,
        may_ask: bool = True,
    ) -> None:
        self.info = info
        self._may_ask = may_ask
        self._context = context
        self._client = client
        self._options = options
        self._failures = Failures()

    async def fill(self, case: Case) -> Answer:
        """Fill one hole."""
        return self._failures.noted(await self._fill(case))

    async def _fill(self, case: Case) -> Answer:
        started = time.perf_counter()
        plan = plan_case(case, self._options, may_ask=self._may_ask)
        if isinstance(plan, NoSuggestion):
            return Answer(text="", reason=plan.reason, ms=_ms_since(started))
        limit_s = SLACK_S + (self._options.deadline_ms or 0) / 1000
        try:
            options = self._options_for(case, plan)
            started = time.perf_counter()  # choosing is done in idle time
            async with asyncio.timeout(limit_s):
                fill = self._edit if case.is_range else self._suggest
                found, work = await fill(plan, options)
        except TimeoutError:
            return failed(f"no answer within {limit_s:g} s", _ms_since(started))
        except FillFailed as failure:
            if failure.code in _GONE_FOR_GOOD:
                raise EvaluationFault(str(failure)) from failure
            return failed(str(failure), _ms_since(started))
        except EngineUnavailable as error:
            raise EvaluationFault(str(error)) from error
        return answer_of(found, work, _ms_since(started))

    def _options_for(self, case: Case, plan: FillPlan) -> FillOptions:
        """Return the options with what the project tells; it is read, however long that takes."""
        if self._context is None:
            return self._options
        project = self._context.project_for(case, plan)
        options = with_project(self._options, project)
        return replace(options, names=self._context.names_for(case, plan))

    async def _edit(
        self, plan: FillPlan, options: FillOptions
    ) -> tuple[Suggestion | NoSuggestion, EngineCost]:
        """Fill a range that the user selected."""
        result = await run_plan(
            self._client.fill,
            plan,
            options,
            num_candidates=self._options.num_candidates,
        )
        assert isinstance(result, FillResult), "the client raises where there is no answer"
        return plan.at_cursor(result.suggestion), result.cost

    async def _suggest(
        self, plan: FillPlan, options: FillOptions
    ) -> tuple[Suggestion | NoSuggestion, EngineCost]:
        """Return the likeliest fill that passes, else why the likeliest of all does not."""
        attempts = Attempts(plan.read_at_cursor)
        for alternative in attempts:
            request = plan.request(options, alternative=alternative)
            attempts.take(await self._client.fill(request))
        found = attempts.passed[0] if attempts.passed else attempts.rejection
        assert found is not None and attempts.cost is not None, "there is one answer at least"
        return found, attempts.cost


def with_project(options: FillOptions, project: ProjectContext | None) -> FillOptions:
    """Return the options; with a project it is read first, however long that takes."""
    return replace(options, project=project, project_use="always") if project else options


def described_context(context: WithContext | None) -> dict[str, str]:
    """Return the options of the context, for a report."""
    if context is None:
        return {}
    return {
        "context": ", ".join(sorted(context.options.kinds)),
        "context_tokens": str(context.options.budget_tokens),
    }


def answer_of(found: Suggestion | NoSuggestion, work: EngineCost, ms: float) -> Answer:
    """Return the answer with what was found, its cost, and the time until it was there."""
    return Answer(
        text="" if isinstance(found, NoSuggestion) else found.text,
        reason=found.reason if isinstance(found, NoSuggestion) else None,
        ms=ms,
        engine_ms=work.ms,
        read_ms=work.read_ms,
        num_forwards=work.num_forwards,
        num_tokens=work.num_written,
        mean_entropy=work.mean_entropy,
        num_read=work.num_read,
        num_reused=work.num_reused,
        num_project=work.num_project,
    )


def _ms_since(started: float) -> float:
    return 1000 * (time.perf_counter() - started)
