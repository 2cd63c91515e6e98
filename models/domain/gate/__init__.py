"""The gate: which user turns become durable memory, and how its threshold is calibrated."""
