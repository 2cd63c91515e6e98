"""Puts the memory provider where Hermes looks for one, and takes it away again: two small files in a folder of their own."""

import os
import shutil
from pathlib import Path

PLUGIN = '''"""Longtail as the memory of Hermes; the code is in the package longtail-client."""

from longtail_client.hermes import LongtailMemoryProvider


def register(ctx):
    """Called by Hermes when `memory.provider` is longtail."""
    ctx.register_memory_provider(LongtailMemoryProvider())
'''
MANIFEST = """name: longtail
version: 0.1.0
description: Every turn kept, and a prompt within budget, by a Longtail service of your own.
"""


def find_folder() -> Path:
    """`$HERMES_HOME/plugins/longtail`."""
    home = os.environ.get("HERMES_HOME")
    return (Path(home) if home else Path.home() / ".hermes") / "plugins" / "longtail"


def install() -> str:
    """Write the plugin's files; returns what to do next."""
    folder = find_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "plugin.yaml").write_text(MANIFEST, encoding="utf-8")
    return f"written to {folder}; now run: hermes config set memory.provider longtail"


def uninstall() -> str:
    """Remove the plugin's folder; returns what to do next."""
    folder = find_folder()
    if not folder.exists():
        return f"nothing is installed at {folder}"
    shutil.rmtree(folder)
    return f"removed {folder}; now run: hermes config set memory.provider ''"
