"""Commands that stand between an agent and memory: `longtail mcp` and `longtail proxy`."""

from typing import Annotated, Literal

import typer

User = Annotated[str | None, typer.Option("--user", help="Whose memory (user_id).")]
Host = Annotated[str, typer.Option(help="The address to listen on; loopback by default.")]
CLIENT_RETRY_SECONDS = 2.0  # a tool's answer says that memory is away; it does not wait for it


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command("mcp")(serve_mcp)
    app.command()(proxy)


def serve_mcp(
    user: User = None,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="stdio, or streamable HTTP.")] = "stdio",
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="For http; the path is /mcp.")] = 8767,
) -> None:
    """Offer memory to an MCP client: search, expand, grep, add, forget, status; sessions and documents."""
    from api.client import ServiceClient
    from api.host.configuration import find_user
    from api.mcp.server import create_server
    from models.settings import get_settings

    if transport == "http":
        check_reach(host)
    client = ServiceClient.from_settings(get_settings(), retry_seconds=CLIENT_RETRY_SECONDS)
    server = create_server(client, user_id=user or find_user())
    if transport == "stdio":
        server.run("stdio")
        return
    typer.echo(f"MCP on http://{host}:{port}/mcp until Ctrl-C", err=True)
    server.run("streamable-http", host=host, port=port)


def proxy(
    upstream: Annotated[
        str, typer.Option(help="The model's API, as https://api.openai.com or http://127.0.0.1:11434.")
    ],
    user: User = None,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8766,
    budget: Annotated[int, typer.Option(min=1, help="Tokens that memory may add to a request.")] = 2000,
    deadline_ms: Annotated[int, typer.Option(min=1, help="That a request waits for memory at most.")] = 500,
) -> None:
    """Give memory to any program that speaks to an OpenAI- or Anthropic-compatible API: point its base URL here.

    The session is the header x-longtail-session, else the conversation's first user message; the user is the header
    x-longtail-user, else --user. Everything but the added memory passes through unchanged.
    """
    import uvicorn

    from api.host.configuration import Configuration
    from api.proxy.app import create_proxy
    from api.proxy.memory import Memory
    from models.errors import InvalidInput
    from models.settings import get_settings

    check_reach(host)
    if not upstream.startswith(("http://", "https://")):
        raise InvalidInput(
            f"'{upstream}' is no address of a model's API",
            field="upstream",
            remedy="give it with its scheme, as --upstream https://api.openai.com",
        )
    configuration = Configuration(user_id=user)
    memory = Memory(configuration, budget_tokens=budget, deadline_ms=deadline_ms)
    application = create_proxy(
        upstream=upstream, memory=memory, user_id=configuration.user_id, is_public=get_settings().tls_in_front
    )
    typer.echo(f"proxy to {upstream} on http://{host}:{port} until Ctrl-C", err=True)
    uvicorn.run(application, host=host, port=port, log_level="warning", access_log=False)


def check_reach(host: str) -> None:
    """Refuse an address beyond loopback: neither of the two asks who calls."""
    from models.errors import Misconfigured
    from models.settings import get_settings, is_loopback

    if not (is_loopback(host) or get_settings().tls_in_front):
        raise Misconfigured(
            f"'{host}' is not on loopback, and whoever reaches this is taken for its user",
            field="host",
            remedy="put a proxy with TLS and a login in front of it, and set LONGTAIL_TLS_IN_FRONT=true",
        )
