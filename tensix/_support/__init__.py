"""Private: what every part uses and what knows of no memory: text, tables, late imports, argument errors."""
