"""Secrets at the door: every text that is to be kept is screened here, by one policy, before anything else reads it.

mask    a word stands in the place of the secret; the secret is kept nowhere (the default)
tag     the text is kept as it is; a turn's metadata says which kinds are in it
refuse  the call is refused, and says where the secret stands
off     nothing is looked for
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, Field

from models.domain.text.secrets import find_secrets, mask_secrets, mask_values
from models.errors import InvalidInput
from models.settings import get_settings

TAG: Final = "longtail_secrets"  # in the metadata of a tagged turn
REMEDY: Final = "take it out and send the rest; LONGTAIL_SECRETS=mask keeps the text without it"


class SecretOut(BaseModel):
    """Secrets of one kind in one place of a request."""

    field: str
    kind: str
    count: int = Field(ge=1)


def describe(field: str, kinds: Sequence[str]) -> list[SecretOut]:
    """How many of each kind were found in a field."""
    return [SecretOut(field=field, kind=kind, count=count) for kind, count in sorted(Counter(kinds).items())]


def tell(found: Sequence[SecretOut]) -> str:
    """What was found, in words, without the secret."""
    return ", ".join(f"{one.kind} in {one.field}" for one in found)


def screen_text(text: str, field: str) -> tuple[str, list[SecretOut]]:
    """The text as it may be kept, and what was found in it; InvalidInput where the policy is to refuse."""
    policy = get_settings().secrets
    if policy == "off":
        return text, []
    if policy == "mask":
        masked = mask_secrets(text)
        return masked.text, describe(field, masked.kinds)
    return text, _judge(describe(field, [one.kind for one in find_secrets(text)]))


def screen_values(values: Any, field: str) -> tuple[Any, list[SecretOut]]:
    """The same for a JSON value: every string in it, and what a name like "password" announces."""
    policy = get_settings().secrets
    if policy == "off":
        return values, []
    masked, kinds = mask_values(values)
    found = describe(field, kinds)
    return (masked, found) if policy == "mask" else (values, _judge(found))


def screen_note(text: str) -> str:
    """A note beside something else (a reason, a receipt's question): masked, whatever else the policy does with turns."""
    return text if get_settings().secrets == "off" else mask_secrets(text).text


def screen_notes(values: dict[str, Any]) -> dict[str, Any]:
    """The same for what is noted as JSON."""
    if get_settings().secrets == "off":
        return values
    masked: dict[str, Any] = mask_values(values)[0]
    return masked


def _judge(found: list[SecretOut]) -> list[SecretOut]:
    if found and get_settings().secrets == "refuse":
        raise InvalidInput(
            f"there is a secret in it: {tell(found)}",
            code="secret_refused",
            field=found[0].field,
            remedy=REMEDY,
        )
    return found
