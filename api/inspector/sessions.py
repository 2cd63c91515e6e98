"""Sessions: what was said, what covers it, and the way from a summary down to the turns."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.access.decisions import NOBODY, RuntimeOf
from api.inspector.charts import MOST_MARKS, Stretch
from api.inspector.pages import ROOT, PageRoute, render
from api.inspector.visitors import Visiting
from api.routing.parameters import Asked, Cursor, SessionId, TextCursor
from api.sessions.service import page_sessions, read_session
from api.summaries.service import Outline, expand_summary, outline_session, read_summary
from api.turns.service import page_turns
from models.store.compaction.summaries import Summary
from models.store.conversation.history import OutlinedTurn

router = APIRouter(route_class=PageRoute, include_in_schema=False)
SESSIONS_A_PAGE: Final = 50
TURNS_A_PAGE: Final = 60
TURNS_UNFOLDED: Final = 500


@router.get(ROOT + "/sessions")
def get_sessions(runtime: RuntimeOf, visitor: Visiting, asked: Asked, cursor: TextCursor = None) -> Response:
    """Every session the token opens, by name; of one user, if one is asked for."""
    found = page_sessions(
        runtime, visitor.caller, asked=asked, since=None, until=None, cursor=cursor, limit=SESSIONS_A_PAGE
    )
    return render("sessions.html", view="sessions", visitor=visitor, found=found, asked=asked.user_id or "")


@router.get(ROOT + "/summaries/{summary_id}")
def get_summary_part(summary_id: UUID, runtime: RuntimeOf, visitor: Visiting) -> Response:
    """What one summary covers, one level down: summaries that unfold further, or raw turns."""
    caller = visitor.caller
    summary = read_summary(runtime, caller, summary_id)
    below = expand_summary(runtime, caller, summary_id, depth=1, cursor=None, limit=TURNS_UNFOLDED)
    return render("summary_part.html", summary=summary, below=below, tail_from=None)


@router.get(ROOT + "/sessions/{session_id:path}")
def get_session(
    session_id: SessionId, runtime: RuntimeOf, visitor: Visiting, cursor: Annotated[Cursor, Query()] = None
) -> Response:
    """One session: its timeline, the summaries that stand for it now, and its turns, the newest page first."""
    caller = visitor.caller
    session = read_session(runtime, caller, session_id, asked=NOBODY)
    outline = outline_session(runtime, caller, session_id)
    newest = max(session.turns - TURNS_A_PAGE - 1, -1)
    after = newest if cursor is None else cursor
    page = page_turns(runtime, caller, session_id, asked=NOBODY, cursor=after, limit=TURNS_A_PAGE)
    return render(
        "session.html",
        view="sessions",
        visitor=visitor,
        session=session,
        outline=outline,
        stretches=_draw(outline),
        page=page,
        earlier=max(after - TURNS_A_PAGE, -1) if after >= 0 else None,
    )


def _draw(outline: Outline) -> list[Stretch]:
    """Turns on the lowest row, each summary on the row of its level."""
    marks = [_draw_summary(one) for one in outline.made]
    runs: list[tuple[str, int, int]] = []
    for turn in outline.turns:
        style = _style_of(turn, outline.tail_from)
        if runs and runs[-1][0] == style and len(outline.turns) > MOST_MARKS:
            runs[-1] = (style, runs[-1][1], turn.position)
        else:
            runs.append((style, turn.position, turn.position))
    names = {"covered": "covered by a summary", "tail": "always verbatim", "turn": "not covered yet"}
    for style, first, last in runs:
        where = f"turn {first}" if first == last else f"turns {first} to {last}"
        marks.append(Stretch(first, last, 0, style, f"{where}: {names[style]}"))
    return marks


def _style_of(turn: OutlinedTurn, tail_from: int) -> str:
    if turn.position >= tail_from:
        return "tail"
    return "covered" if turn.is_covered else "turn"


def _draw_summary(one: Summary) -> Stretch:
    name = f"level {one.level}: turns {one.first_position} to {one.last_position}, {one.turn_count} of them covered"
    style = "summary" if one.is_active else "retired"
    return Stretch(
        one.first_position,
        one.last_position,
        one.level,
        style,
        name,
        f"#s-{one.id}" if one.is_active else None,
    )
