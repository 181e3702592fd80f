"""Progress bars in one style, on a terminal only."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(
    what: str,
    total: int | None = None,
    unit: str = "",
    *,
    done: int = 0,
    hidden: bool = False,
    resizes: bool = False,
    stays: bool = False,
) -> "tqdm[Any]":
    """Make a progress bar on standard error.

    Parameters
    ----------
    what : str
        Written before the bar.
    total : int, optional
        Steps; without it the bar counts only.
    unit : str
        Name of a step.
    done : int
        Steps done already.
    hidden : bool
        Show nothing. Where standard error is no terminal, nothing is shown either.
    resizes : bool
        Whether it follows the width of the terminal.
    stays : bool
        Whether it stays on the terminal when it is closed.

    Returns
    -------
    tqdm
        A context manager; ``update(n)`` counts steps.
    """
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=what,
        unit=unit,
        initial=done,
        leave=stays,
        disable=True if hidden else None,
        dynamic_ncols=resizes,
    )
