"""Exact evaluation: win rates, counterfactual values, tablebases."""
