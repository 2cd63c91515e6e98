"""Rules: what documents demand and what it costs, what users asked for in passing, and who overrules whom."""

from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import RedirectResponse
from pydantic import ValidationError

from api.access.decisions import NOBODY, RuntimeOf
from api.documents.service import hard_cap, page_documents, read_partition
from api.guidance.service import correct_rule, find_contradicted, forget_rule, page_guidance
from api.inspector.charts import Part
from api.inspector.pages import ROOT, PageRoute, render
from api.inspector.visitors import Form, Visiting, Writing
from api.memories.schemas import CorrectionIn
from api.routing.parameters import PageCursor
from models.errors import InvalidInput

router = APIRouter(route_class=PageRoute, include_in_schema=False)
DOCUMENTS_LISTED: Final = 200
WISHES_LISTED: Final = 200


@router.get(ROOT + "/rules")
def get_rules(runtime: RuntimeOf, visitor: Visiting, cursor: PageCursor = None) -> Response:
    """Documents with what they cost every prompt, and wishes by how they stand."""
    caller = visitor.caller
    documents = page_documents(
        runtime, caller, user_id=None, agent_id=None, cursor=None, limit=DOCUMENTS_LISTED
    ).documents
    page = page_guidance(
        runtime,
        caller,
        asked=NOBODY,
        collection=None,
        only_standing=False,
        cursor=cursor,
        limit=WISHES_LISTED,
    )
    standing = [one for one in page.guidance if not one.superseded_by and not one.forgotten_at]
    overruled = find_contradicted(runtime, caller, standing)
    return render(
        "rules.html",
        view="rules",
        visitor=visitor,
        documents=documents,
        cap=hard_cap(runtime),
        parts=[
            Part(one.name, one.hard_tokens, "t-hard" if index % 2 == 0 else "t-tail")
            for index, one in enumerate(documents)
        ],
        standing=[one for one in standing if one.id not in overruled],
        overruled=[(one, overruled[one.id]) for one in standing if one.id in overruled],
        superseded=[one for one in page.guidance if one.superseded_by and not one.forgotten_at],
        forgotten=[one for one in page.guidance if one.forgotten_at],
        by_id={one.id: one for one in page.guidance},
        next_cursor=page.next_cursor,
    )


@router.get(ROOT + "/documents")
def get_document_part(
    runtime: RuntimeOf, visitor: Visiting, name: str, binding: Annotated[str, Query()] = "tenant"
) -> Response:
    """One document node by node, with tiers, costs and conflicts."""
    kind, _, whose = binding.partition(":")
    found = read_partition(
        runtime,
        visitor.caller,
        name,
        user_id=whose if kind == "user" else None,
        agent_id=whose if kind == "agent" else None,
    )
    return render("document_part.html", found=found)


@router.post(ROOT + "/guidance/{guidance_id}/forget")
def post_forget(guidance_id: UUID, runtime: RuntimeOf, visitor: Writing, _form: Form) -> Response:
    """A wish stands no more; the raw record keeps the turn."""
    forget_rule(runtime, visitor.caller, guidance_id, asked=NOBODY, reason="forgotten in the Inspector")
    return RedirectResponse(f"{ROOT}/rules#wishes", status_code=303)


@router.post(ROOT + "/guidance/{guidance_id}/correct")
def post_correct(guidance_id: UUID, runtime: RuntimeOf, visitor: Writing, form: Form) -> Response:
    """Other words for a wish; the workers read them in a moment."""
    correct_rule(runtime, visitor.caller, guidance_id, _read_correction(form), asked=NOBODY)
    return RedirectResponse(f"{ROOT}/rules#wishes", status_code=303)


def _read_correction(form: dict[str, str]) -> CorrectionIn:
    values: dict[str, Any] = {"text": form.get("text", "").strip(), "reason": "corrected in the Inspector"}
    try:
        return CorrectionIn.model_validate(values)
    except ValidationError as error:
        raise InvalidInput(
            error.errors()[0]["msg"], field="text", remedy="write what it should say"
        ) from error
