"""Integrations: one small module for each foreign protocol."""
