"""Exchange with others, one protocol per file."""
