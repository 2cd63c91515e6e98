"""The page of rooms says what every folder is for, in the words of the folder itself."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "rooms.md"


def describe_rooms() -> list[str]:
    """A line for each package: its folder, what it is for, and the modules that lie beside its folders."""
    lines = []
    for top in ("api", "models", "workers", "bench"):
        for init in sorted((ROOT / top).rglob("__init__.py")):
            folder = init.parent
            purpose = (ast.get_docstring(ast.parse(init.read_text())) or "").partition("\n\n")[0]
            has_rooms = any((inner / "__init__.py").exists() for inner in folder.iterdir())
            loose = [f"`{path.stem}`" for path in sorted(folder.glob("*.py")) if path.stem[0] != "_"]
            beside = ", ".join(loose) if has_rooms else ""
            lines.append(f"| `{folder.relative_to(ROOT)}/` | {' '.join(purpose.split())} | {beside} |")
    return lines


def test_the_page_names_every_room_in_its_own_words() -> None:
    missing = [line for line in describe_rooms() if line not in PAGE.read_text().splitlines()]
    assert not missing, "docs/rooms.md wants these lines:\n" + "\n".join(missing)


def test_the_page_names_no_room_that_is_gone() -> None:
    named = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [room for room in named if not (ROOT / room).is_dir()] == []
