"""Named collections, as the JSON-RPC protocol sees the tables: views of them, and records of a client's own."""
