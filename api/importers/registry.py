"""The sources that `longtail import KIND` knows besides our own export."""

from typing import Final

from api.importers import claude_code
from api.importers.records import Source

SOURCES: Final[dict[str, Source]] = {source.kind: source for source in (claude_code.SOURCE,)}
