"""The text of a prompt: its sections in order, each in pieces that stay as they are while the text grows at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.domain.prompt.markers import CLOSE_BLOCK, open_block
from models.domain.prompt.rendering import (
    AUTHORED,
    FOUND_RULES,
    GUIDANCE,
    RECALLED,
    RECENT,
    SECTIONS,
    Layout,
    Section,
    name_block,
    render_heading,
)
from models.domain.prompt.supply import Block, TierName


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section as it stands in the text."""

    section: Section
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def render_parts(
    chosen: Mapping[TierName, Sequence[Block]], *, marker: str, layout: Layout
) -> tuple[Part, ...]:
    """The sections in the order of the prompt; the first and last of each block carry the block's own tags."""
    rendered: dict[str, list[str]] = {
        AUTHORED.name: [block.rendered for tier in ("hard", "soft") for block in chosen[tier]],
        RECENT.name: [block.rendered for block in chosen["tail"]],
        FOUND_RULES.name: [block.rendered for block in chosen["recall"] if block.is_rule],
        GUIDANCE.name: [block.rendered for block in chosen["guidance"]],
        RECALLED.name: _under_headings([block for block in chosen["recall"] if not block.is_rule]),
    }
    present = [section for section in SECTIONS if rendered[section.name]]
    blocks = [name_block(section, layout) for section in present]
    parts = []
    for index, section in enumerate(present):
        opens = index == 0 or blocks[index - 1] != blocks[index]
        closes = index == len(present) - 1 or blocks[index + 1] != blocks[index]
        parts.append(
            Part(
                section=section,
                pieces=(
                    (open_block(marker) if opens else "") + section.opening,
                    *rendered[section.name],
                    section.closing + (CLOSE_BLOCK if closes else ""),
                ),
            )
        )
    return tuple(parts)


def _under_headings(blocks: Sequence[Block]) -> list[str]:
    """What was recalled, by its headings: the newest first, and under each in the order it was said."""
    groups: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda block: (block.said_at or 0.0, block.id)):
        groups.setdefault(block.heading, []).append(block)
    newest_first = sorted(groups, key=lambda heading: (-(groups[heading][-1].said_at or 0.0), heading))
    return [
        text
        for heading in newest_first
        for text in (render_heading(heading), *(block.rendered for block in groups[heading]))
    ]
