"""The HTTP surface of profiles."""

from fastapi import APIRouter

from api.access.decisions import Reader, RuntimeOf
from api.profile.schemas import ProfileOut
from api.profile.service import show_profile
from api.routing.parameters import PROBLEM, Asked

router = APIRouter(responses=PROBLEM, tags=["memories"])


@router.get("/v1/profile")
def get_profile(runtime: RuntimeOf, caller: Reader, asked: Asked) -> ProfileOut:
    """What is known of a user: how the last session ended, open matters, and the facts worth most, each with its turn."""
    return show_profile(runtime, caller, asked=asked)
