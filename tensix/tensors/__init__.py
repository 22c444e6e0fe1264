"""What an element is and what a body is: element types, layouts, dispatch keys, geometry, the handle without methods.

Nothing is imported here: each module is imported by those that need it.
"""
