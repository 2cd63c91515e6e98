"""What a text says on its surface: sentences, terms, dates, and the technical spans in it."""
