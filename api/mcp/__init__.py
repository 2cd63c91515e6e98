"""Memory for MCP clients: tools and resources over the HTTP API."""
