"""JSON-RPC 2.0: the methods of an older memory daemon, over HTTP and over lines on a local socket."""
