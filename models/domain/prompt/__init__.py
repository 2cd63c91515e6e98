"""What a prompt is made of: its budget, its tail, its tiers, and how they are rendered and counted."""
