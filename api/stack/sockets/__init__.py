"""Where the stack listens: ports, the addresses of the line server, and sockets that outlive a restart."""
