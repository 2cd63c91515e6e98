"""Authored Markdown: parsed with a CommonMark parser into the leaf nodes that models.domain.rules.tiers tiers."""
