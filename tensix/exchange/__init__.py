"""Tensors in other hands: what the protocols of a tensor call, and what makes tensors of others' memory.

Nothing is imported here: each part is for one protocol.
"""
