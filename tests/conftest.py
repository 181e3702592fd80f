import os
import signal

from hypothesis import settings

# Figures are drawn to files, never to a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

# What a script starts in the background ignores Ctrl-C, and so would all that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Repeatable by default; `pytest --hypothesis-profile=explore` looks further. No deadline: the first
# call of a kernel compiles it.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("repeatable")
