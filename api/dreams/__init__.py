"""Dream diaries: entries that proved themselves become memories of their user."""
