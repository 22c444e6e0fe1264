"""Benchmarks of tensix, one file per area. The rules for writing one are in README.md."""
