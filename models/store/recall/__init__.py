"""What a prompt or a search reads: the context of a session, candidates by words and by nearness."""
