"""The wires of five providers as their servers see them: requests read into plain terms, answers put into streams."""
