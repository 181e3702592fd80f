import os

from hypothesis import settings

# Figures are drawn to files, never to a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# Repeatable by default; `pytest --hypothesis-profile=explore` looks further. No deadline: the first
# call of a kernel compiles it.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")
