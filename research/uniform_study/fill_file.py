"""Fills the holes of a file of token ids with a uniform-state model, in several ways."""

from collections.abc import Callable, Sequence
from pathlib import Path

from intarsia_research.training.batched_backbone import ReportProgress, load_backbone
from intarsia_research.training.uniform_causal_backbone import (
    PAD,
    UniformCausalBackbone,
    UniformChanges,
)
from intarsia_research.training.uniform_causal_rows import CausalMix
from intarsia_research.uniform_study.arms import Arm
from intarsia_research.uniform_study.encoded_cases import (
    EncodedCase,
    read_encoded,
    read_header,
)
from intarsia_research.uniform_study.fill_cases import (
    CaseFiller,
    CaseIds,
    FilledIds,
    Marks,
    StartIds,
)
from intarsia_research.uniform_study.judged_answers import AnswerLine

Fill = Callable[[Sequence[CaseIds], Arm], Sequence[FilledIds]]
"""Fills a batch of cases."""


def fill_file(
    cases: Path,
    weights: Path,
    arms: Sequence[Arm],
    model: str,
    at_once: int,
    on_progress: ReportProgress,
) -> list[AnswerLine]:
    """Return each arm's answer to each case. Raises EvaluationFault and ModelError."""
    header, encoded = read_header(cases), read_encoded(cases)
    loaded = load_backbone(model, on_progress)
    backbone = UniformCausalBackbone(loaded.backbone.shape, loaded.backbone.weights)
    filler = CaseFiller(
        backbone,
        UniformChanges.read(weights, backbone.shape).to(backbone.device),
        Marks(end=loaded.tokenizer.mark_ids().end, pad=loaded.tokenizer.mark_id(PAD)),
        num_pinned=CausalMix().num_pinned,
        starts=[StartIds(ids=start.ids, then=start.then) for start in header.starts],
    )
    return fill_encoded(encoded, arms, filler.fill, at_once, on_progress)


def fill_encoded(
    cases: Sequence[EncodedCase],
    arms: Sequence[Arm],
    fill: Fill,
    at_once: int,
    on_progress: ReportProgress,
) -> list[AnswerLine]:
    """Return the answers; cases whose contexts are of like lengths share a batch."""
    ordered = sorted(cases, key=lambda case: len(case.context))
    holes = [case for case in ordered if case.reason is None]
    none = [case for case in ordered if case.reason is not None]
    answers: list[AnswerLine] = []
    for number, arm in enumerate(arms):
        empty = FilledIds(ids=[], confidences=[], mean_entropy=0.0, num_forwards=0)
        answers += [_line(case, arm, empty) for case in none]
        for at in range(0, len(holes), at_once):
            done = (number + at / len(holes)) / len(arms)
            on_progress(f"{arm.name}: hole {at + 1} of {len(holes)}", done)
            batch = holes[at : at + at_once]
            found = fill([_case_ids(case) for case in batch], arm)
            answers += [_line(case, arm, one) for case, one in zip(batch, found, strict=True)]
    return answers


def _case_ids(case: EncodedCase) -> CaseIds:
    return CaseIds(
        name=case.case,
        context=case.context,
        suffix=case.suffix,
        truth=case.truth,
        start=case.healed,
    )


def _line(case: EncodedCase, arm: Arm, found: FilledIds) -> AnswerLine:
    return AnswerLine(
        set=case.set,
        case=case.case,
        arm=arm.name,
        ids=list(found.ids),
        confidences=list(found.confidences),
        num_forwards=found.num_forwards,
        mean_entropy=found.mean_entropy,
    )
