"""``python -m hogeq.run CONFIG`` is ``hogeq run CONFIG``."""

import sys

from hogeq.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
