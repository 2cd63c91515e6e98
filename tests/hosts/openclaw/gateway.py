"""The real OpenClaw with our plugin: a throwaway state folder, a gateway process, and the commands a user types."""

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

from installation import Host

from api.stack.sockets.ports import find_free

PLUGIN = Path(__file__).resolve().parents[3] / "hosts" / "openclaw"


class Gateway:
    """`openclaw gateway run` against a stub model, with the plugin in both slots."""

    def __init__(
        self,
        host: Host,
        *,
        model_port: int,
        is_configured: bool = True,
        extra: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.host = host
        self.home = Path(tempfile.mkdtemp(prefix="openclaw-"))
        self.port = find_free()
        self.log = self.home / "gateway.log"
        self._process: subprocess.Popen[bytes] | None = None
        config: dict[str, Any] = {
            "gateway": {
                "mode": "local",
                "port": self.port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": "test"},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            },
            "logging": {"file": str(self.home / "openclaw.log"), "level": "debug"},
            "models": {
                "mode": "replace",
                "providers": {
                    "stub": {
                        "baseUrl": f"http://127.0.0.1:{model_port}/v1",
                        "apiKey": "none",
                        "api": "openai-completions",
                        "models": [
                            {"id": "stub", "name": "stub", "contextWindow": 32_000, "maxTokens": 1000}
                        ],
                    }
                },
            },
            "agents": {
                "defaults": {
                    "model": {"primary": "stub/stub"},
                    "workspace": str(self.home / "workspace"),
                    "skipBootstrap": True,
                }
            },
            **(extra or {}),
        }
        if is_configured:
            config["plugins"] = {
                "load": {"paths": [str(PLUGIN)]},
                "slots": {"memory": "longtail", "contextEngine": "longtail"},
                "entries": {
                    "longtail": {
                        "enabled": True,
                        "hooks": {"allowConversationAccess": True},
                        # A busy machine must not decide what is recalled.
                        "config": {
                            "assembleMs": 30_000,
                            "commitMs": 30_000,
                            "compactMs": 60_000,
                            # Sub-agents are told by the host's own hooks, not by the name of their session.
                            "ignoreSessions": ["*:cron:*", "*:hook:*", "*:heartbeat*"],
                        },
                    }
                },
            }
        (self.home / "openclaw.json").write_text(json.dumps(config))
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("OPENCLAW_", "LONGTAIL_", "npm_"))},
            "HOME": str(self.home),
            "PATH": f"{host.node.parent}{os.pathsep}{os.environ['PATH']}",
            "OPENCLAW_STATE_DIR": str(self.home),
            "OPENCLAW_CONFIG_PATH": str(self.home / "openclaw.json"),
            "OPENCLAW_GATEWAY_TOKEN": "test",
            "NO_COLOR": "1",
            **(env or {}),
        }

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def start(self, timeout_seconds: float = 600) -> None:
        """Start the gateway and wait until it answers."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [*self.host.command, "gateway", "run"], env=self.env, stdout=output, stderr=output
            )
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2).close()
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
            else:
                return
        raise AssertionError(f"the gateway did not start:\n{self.log.read_text()[-4000:]}")

    def stop(self) -> None:
        """End the gateway as its user would."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def remove(self) -> None:
        """Stop it and leave nothing behind."""
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, *arguments: str, timeout_seconds: float = 600) -> subprocess.CompletedProcess[str]:
        """A command of the host, as typed."""
        return subprocess.run(
            [*self.host.command, *arguments],
            env=self.env,
            text=True,
            capture_output=True,
            timeout=timeout_seconds,
            check=False,
        )

    @property
    def config(self) -> dict[str, Any]:
        """The host's configuration as it is on disk."""
        found: dict[str, Any] = json.loads((self.home / "openclaw.json").read_text())
        return found

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One gateway method."""
        done = self.run("gateway", "call", method, "--params", json.dumps(params), "--json")
        assert done.returncode == 0, f"{method}: {done.stdout}{done.stderr}"
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def say(self, message: str, session_key: str) -> str:
        """One turn over the gateway's HTTP, the same way in as `openclaw agent`; the answer as its user sees it."""
        body = {"model": "openclaw/main", "messages": [{"role": "user", "content": message}]}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/chat/completions",
            data=json.dumps(body).encode(),
            headers={
                "Authorization": "Bearer test",
                "Content-Type": "application/json",
                "x-openclaw-session-key": session_key,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=600) as response:
                answer = json.loads(response.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(
                f"the turn failed: {error.read().decode()}\n{self.logs()[-4000:]}"
            ) from error
        found: str = answer["choices"][0]["message"]["content"]
        return found

    def type(self, message: str, session_key: str) -> str:
        """One turn as typed: `openclaw agent`."""
        done = self.run(
            "agent", "--agent", "main", "--session-key", session_key, "--message", message, "--json"
        )
        assert done.returncode == 0, f"the turn failed:\n{done.stdout}{done.stderr}\n{self.logs()[-4000:]}"
        payloads = json.loads(done.stdout)["result"]["payloads"]
        return "\n".join(payload.get("text") or "" for payload in payloads)

    def logs(self) -> str:
        """What the gateway wrote."""
        return self.log.read_text() if self.log.exists() else ""
