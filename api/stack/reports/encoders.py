"""What the rows say of encoders, for `longtail status` and `longtail doctor`; asked as the owner of the database."""

from collections.abc import Iterator
from typing import Any, Literal

from api.stack import reembedding
from api.stack.supervision import health
from models.errors import ServiceError
from models.settings import Settings

Said = tuple[Literal["ok", "warn", "fail"], str, str]  # how bad, what, what to do


def read_encoders(settings: Settings) -> dict[str, Any] | None:
    """Which encoder serves, which is being filled and how far; None where that cannot be asked."""
    if not settings.owner_database_url():
        return None
    try:
        report = reembedding.tell(settings, only_filling=True)
    except ServiceError:
        return None
    filling = next((one for one in report["encoders"] if one["state"] == "filling"), None)
    return {"active": report["active"], "standby": report["standby"], "filling": filling}


def describe(encoders: dict[str, Any]) -> tuple[str, str]:
    """The line of the status table: the one that serves, and what is known beside it."""
    filling = encoders["filling"]
    if filling is not None:
        return encoders["active"], reembedding.describe_progress(filling)
    standby = encoders["standby"]
    return encoders["active"] or "none", f"{standby} is kept full beside it" if standby else ""


def examine_encoders(settings: Settings) -> Iterator[Said]:
    """LONGTAIL_ENCODER can be used, and is what serves; what is being filled goes on; the API follows."""
    from models.encoders.protocol import EncoderUnavailable
    from models.encoders.registry import name_encoder

    name = None
    try:
        name = name_encoder(settings.encoder)
    except (ValueError, EncoderUnavailable) as error:
        yield (
            "fail",
            f"LONGTAIL_ENCODER={settings.encoder} cannot be used: {error}",
            "mend what it names, or unset it",
        )
    found = read_encoders(settings)
    if found is None or found["active"] is None:
        return
    active, filling = found["active"], found["filling"]
    if filling is not None and filling["problem"]:
        yield (
            "warn",
            f"re-embedding to '{filling['name']}' is paused: {filling['problem']}",
            "mend what it names, and it goes on by itself; 'longtail reembed --roll-back' gives it up",
        )
    elif filling is not None:
        yield "ok", reembedding.describe_progress(filling), ""
    elif "encoder" in settings.model_fields_set and name not in (None, active):
        yield (
            "warn",
            f"LONGTAIL_ENCODER names '{name}', and the memory is served by '{active}'",
            "'longtail reembed' goes over to it; else unset LONGTAIL_ENCODER",
        )
    status, counts = health.read_service_status(settings.service_url(), settings.client_token())
    if status == 200 and counts.get("encoder") != active:
        yield (
            "warn",
            f"the API still serves with '{counts.get('encoder')}', and the active encoder is '{active}'",
            "it follows within seconds where it can load the model; else see 'longtail logs api'",
        )
