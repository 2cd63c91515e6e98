"""Mutation testing of the domain: every small fault put into models/domain, and which of them the tests notice."""
