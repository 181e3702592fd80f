"""Purifiers: from a policy to a matrix that can be submitted.

To add one, write a subclass of `Purifier` in a file, and add the file to the imports below.
"""

from hogeq.purification.base import PURIFIERS, Purifier, argmax, purifier, purify, thresholded

# Each registers itself when it is imported; help and messages list them in this order.
# isort: off
from hogeq.purification import integer  # noqa: F401
# isort: on

__all__ = ["PURIFIERS", "Purifier", "argmax", "purifier", "purify", "thresholded"]
