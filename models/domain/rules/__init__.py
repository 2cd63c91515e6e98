"""Rules of authored documents and their tiers; which rules hold, and how spoken ones enter a prompt beside them."""
