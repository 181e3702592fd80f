"""What a manifest says of a run's figures."""

from hogeq.runs.files import figures_in


def test_each_figure_keeps_the_effort_that_found_it() -> None:
    effort = {"starts": 16, "anneal_steps": 60, "kicks": 320}
    known = {"attack": 0.6, "bound": 0.7}
    figures = {
        "average_policy": known | {"effort": effort},
        "mixture": known | {"effort": "much"},
        "effort": {"starts": 1},
    }
    assert figures_in({"figures": figures}) == figures | {"mixture": known}
