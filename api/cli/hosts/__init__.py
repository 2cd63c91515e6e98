"""Commands that bring an agent and Longtail together: hook, install, import, audit, MCP, proxy."""
