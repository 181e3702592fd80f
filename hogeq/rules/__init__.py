"""The rules of Hog: named parts, the editions that combine them, and one turn at a time.

Plain Python about single turns and whole numbers; nothing here knows of arrays or strategies.
"""

from hogeq.rules.edition import EDITIONS, Rules, describe, rules_from

__all__ = ["EDITIONS", "Rules", "describe", "rules_from"]
