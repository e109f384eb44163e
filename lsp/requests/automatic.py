"""The manners of an automatic request: where it gets no suggestion, and what it was answered with.

Shared by inline completion and completion. Our own errors are logged, and disturb no request.
"""

import logging

from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.request_outcome import RequestOutcome

logger = logging.getLogger(__name__)


def silent_outcome(session: Session, snapshot: Snapshot) -> RequestOutcome | None:
    """Return the outcome of an automatic request that is to get nothing, else None.

    The running request of the document ends then: it was made for another text or cursor.
    """
    if session.refusal(snapshot.document):
        return None  # nothing of such a document is looked at
    try:
        silence = session.manners.silence(snapshot)
    except Exception:
        logger.exception("the manners fail")
        return None
    if silence is None:
        return None
    session.latest.end(snapshot.document.uri)
    return RequestOutcome(reason=silence.reason, kind=silence.kind)


def note_answer(session: Session, snapshot: Snapshot, outcome: RequestOutcome) -> None:
    """Take what a request is answered with: the client shows it."""
    try:
        session.manners.answered(snapshot, outcome.ghosts)
    except Exception:
        logger.exception("the manners fail")
