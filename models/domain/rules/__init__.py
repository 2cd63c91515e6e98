"""Rules: the detector that finds them, the tiers of authored ones, and the guidance of spoken ones."""
