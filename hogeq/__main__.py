"""``python -m hogeq`` is the console script ``hogeq``."""

import sys

from hogeq.cli import main

if __name__ == "__main__":
    sys.exit(main())
