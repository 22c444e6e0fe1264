"""Who owns what: the chain of ownership from a handle down to the bytes, as text, as a picture and as data."""

from tensix.explanation.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]


def __dir__():
    return sorted(__all__)  # what a shell offers: not the modules of which the names are
