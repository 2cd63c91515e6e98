"""Technical spans in free text: paths, error codes, hashes, versions, names."""
