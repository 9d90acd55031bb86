"""Dialects: one file for each shape in which providers are spoken to. All of it pure: no SDK, no network, no clock."""
