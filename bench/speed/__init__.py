"""How long things take and what they cost, each beside its floor, measured in one run."""
