"""The pages of a contest's folder: a public one, and one for each entrant."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hogeq.contest.assessment import Assessment
from hogeq.pages.check import checked_page
from hogeq.pages.field import field_page
from hogeq.support.aliases import Matrix
from hogeq.support.numbers import percent


def public_page(found: Mapping[str, Any], names: Sequence[str]) -> str:
    """Write the page of ranks without files, reasons and who handed in the same.

    Entries are in the order of their ranks: that of their files could tell who is who.
    """
    order = [line["index"] for line in found["ranking"]]
    place = {index: rank for rank, index in enumerate(order)}
    lines = [
        {
            **line,
            "index": place[line["index"]],
            "lowest_against": place[line["lowest_against"]],
            "file": names[line["index"]],
        }
        for line in found["ranking"]
    ]
    rates = [[found["win_rates"][a][b] for b in order] for a in order]
    shown = {"ranking": lines, "win_rates": rates, "identical": [], "refused": []}
    return field_page({**found, **shown}, [names[index] for index in order])


def standing(line: Mapping[str, Any] | None, names: Sequence[str], notes: Sequence[str]) -> str:
    """Say where an entrant stands by the line of the ranking, None if not ranked; and more."""
    told = ["Not ranked."]
    if line is not None:
        others = len(names) - 1
        won = f"{line['wins']} of {others} matches won, {percent(line['mean_win_rate'])} on average"
        lowest = f"{percent(line['lowest_win_rate'])}, against {names[line['lowest_against']]}"
        told = [f"Rank {line['rank']} of {len(names)}: {won}; the least, {lowest}."]
    return "".join(f"<p>{html.escape(one)}</p>" for one in (*told, *notes))


def entrant_page(
    facts: Mapping[str, Any],
    matrix: Matrix | None,
    assessed: Assessment | None,
    key: str,
    text: str,
) -> str:
    """Write the page of an entrant, with the text of `standing`; `key` says what it is made of."""
    page = checked_page(facts, matrix, assessed)
    return page.replace("</h1>", f"</h1>{_opening(key)}{text}</section>", 1)


def with_standing(page: str, key: str, text: str) -> str | None:
    """Put another standing into a page that was made of the same; None if it was not."""
    found = re.search(f"{re.escape(_opening(key))}.*?</section>", page, re.DOTALL)
    if found is None:
        return None
    return f"{page[: found.start()]}{_opening(key)}{text}</section>{page[found.end() :]}"


def _opening(key: str) -> str:
    return f'<section id="standing" data-key="{key}">'
