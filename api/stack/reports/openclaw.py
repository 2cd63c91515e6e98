"""What OpenClaw's own configuration tells about its sessions: those on a CLI backend call no context engine."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

PLUGIN: Final = "longtail"
SHIPPED: Final = frozenset({"claude-cli", "codex-cli", "google-gemini-cli", "gemini-cli"})


def find_configuration(environment: Mapping[str, str]) -> Path:
    """Where OpenClaw of this user keeps its configuration."""
    if named := environment.get("OPENCLAW_CONFIG_PATH"):
        return Path(named)
    folder = (
        environment.get("OPENCLAW_STATE_DIR") or Path(environment.get("HOME") or Path.home()) / ".openclaw"
    )
    return Path(folder) / "openclaw.json"


def read_configuration(file: Path) -> dict[str, Any] | None:
    """The configuration, if there is one that is plain JSON; OpenClaw also takes comments, which tell us nothing."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def uses_plugin(configuration: Mapping[str, Any]) -> bool:
    """Whether our plugin has a slot.

    >>> uses_plugin({"plugins": {"slots": {"contextEngine": "longtail"}}})
    True
    """
    slots = _at(configuration, "plugins", "slots")
    return isinstance(slots, dict) and PLUGIN in slots.values()


def list_cli_models(configuration: Mapping[str, Any]) -> list[str]:
    """Models and runtimes of the configuration that a command-line program answers for, each where it is named.

    >>> list_cli_models({"agents": {"defaults": {"model": {"primary": "claude-cli/opus"}}}})
    ['agents.defaults: claude-cli/opus']
    """
    agents = configuration.get("agents")
    if not isinstance(agents, dict):
        return []
    own = _at(agents, "defaults", "cliBackends")
    backends = SHIPPED | (set(own) if isinstance(own, dict) else set())
    return [
        f"agents.{place}: {name}"
        for place, agent in _list_agents(agents)
        for name in dict.fromkeys(_list_names(agent))
        if name.partition("/")[0] in backends
    ]


def _list_agents(agents: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "defaults", agents["defaults"] if isinstance(agents.get("defaults"), dict) else {}
    entries = agents.get("entries")
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        if isinstance(entry, dict):
            yield f"entries.{name}", entry
    listed = agents.get("list")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            yield f"list.{entry.get('id', '?')}", entry


def _list_names(agent: Mapping[str, Any]) -> Iterator[str]:
    """Models that the agent speaks through, and runtimes that take them over."""
    model = agent.get("model")
    given: list[Any] = [model] if isinstance(model, str) else []
    if isinstance(model, dict):
        fallbacks = model.get("fallbacks")
        given += [model.get("primary"), *(fallbacks if isinstance(fallbacks, list) else [])]
    models = agent.get("models")
    given += [_at(one, "agentRuntime", "id") for one in (models.values() if isinstance(models, dict) else ())]
    given.append(_at(agent, "agentRuntime", "id"))
    yield from (one for one in given if isinstance(one, str))


def _at(value: Any, *path: str) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def name_cli_sessions(environment: Mapping[str, str] = os.environ) -> tuple[Path, list[str]] | None:
    """The configuration and what in it speaks through a CLI; None where our plugin is not used."""
    file = find_configuration(environment)
    configuration = read_configuration(file)
    if configuration is None or not uses_plugin(configuration):
        return None
    return file, list_cli_models(configuration)
