"""Models: stateless callers, one small file for each provider's SDK, which is imported when it is first called."""
