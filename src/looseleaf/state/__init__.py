"""`state.json`: what is being worked on now, and whose words each value is."""
