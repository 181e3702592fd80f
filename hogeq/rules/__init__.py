"""The rules of Hog: named parts, the editions that combine them, and one turn at a time.

Plain Python about single turns and whole numbers; nothing here knows of arrays or strategies.
"""

from hogeq.rules.edition import ALIASES, EDITIONS, describe, names_of, rules_from
from hogeq.rules.rules import Rules

__all__ = ["ALIASES", "EDITIONS", "Rules", "describe", "names_of", "rules_from"]
