"""Tensors: element types, geometry, views, and the handle that users hold.

Nothing is imported here: the dispatcher stands on some of these modules and under others.
"""
