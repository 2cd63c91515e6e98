"""PostgreSQL and Valkey: their programs, our own clusters, and servers that the operator keeps."""
