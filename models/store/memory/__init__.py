"""What became of what was said: decisions of the gate, memories, guidance, updates, and how they are judged or forgotten."""
