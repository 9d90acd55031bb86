"""Integrations: one host or foreign protocol each."""
