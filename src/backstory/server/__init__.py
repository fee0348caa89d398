"""The MCP server: one connection to one client over standard input and output, or many over HTTP."""
