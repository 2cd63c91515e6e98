"""A folder of Markdown as it lies on the disk: which files belong, what they are called, what they say."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from api.watching.globs import matches_any

Kind = Literal["authored", "note", "dream"]
DEFAULT_INCLUDE = ("*.md", "*.markdown")
DEFAULT_AUTHORED = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "SOUL.md", "RULES.md", "*.rules.md")
# Folders of tools, not of authors; hidden ones are left out in any case.
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a folder is sent, and as what."""

    include: Sequence[str] = DEFAULT_INCLUDE
    exclude: Sequence[str] = ()
    authored: Sequence[str] = DEFAULT_AUTHORED
    dreams: Sequence[str] = ()

    def takes(self, name: str) -> bool:
        """Whether a file belongs, by its path relative to the folder."""
        return matches_any(name, self.include) and not matches_any(name, self.exclude)

    def kind_of(self, name: str) -> Kind:
        """Rules for every prompt, a diary whose proved entries are remembered, or notes that only recall finds."""
        if matches_any(name, self.dreams):
            return "dream"
        return "authored" if matches_any(name, self.authored) else "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a look at the folder found. Nothing can be said of what lies under an unreadable folder."""

    names: frozenset[str]
    unreadable: tuple[str, ...] = ()  # relative, with a closing slash; "" is the folder itself

    def knows(self, name: str) -> bool:
        """Whether the absence of this name means that the file is gone."""
        return not any(name.startswith(prefix) for prefix in self.unreadable)


def list_folder(root: Path, selection: Selection) -> Listing:
    """Every file that belongs, by its name. Links to folders are not followed, nor links that lead out."""
    names: set[str] = set()
    unreadable: list[str] = []

    def note(error: OSError) -> None:
        place = os.path.relpath(error.filename or root, root)
        unreadable.append("" if place == "." else place + "/")

    for folder, folders, files in os.walk(root, onerror=note):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in SKIPPED_FOLDERS)
        for file in files:
            path = Path(folder) / file
            name = path.relative_to(root).as_posix()
            if not file.startswith(".") and selection.takes(name) and _is_inside(path, root):
                names.add(name)
    return Listing(names=frozenset(names), unreadable=tuple(unreadable))


def _is_inside(path: Path, root: Path) -> bool:
    """Whether a file is the folder's own: regular, or a link to a regular file below the folder."""
    if not path.is_symlink():
        return path.is_file()
    target = Path(os.path.realpath(path))
    return target.is_file() and target.is_relative_to(root)
