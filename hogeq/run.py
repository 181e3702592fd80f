"""``python -m hogeq.run CONFIG``."""

import sys

from hogeq.runs.command import main

if __name__ == "__main__":
    sys.exit(main())
