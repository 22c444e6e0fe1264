"""Targets, an allocator, tensors and a kernel, outside of tensix."""
