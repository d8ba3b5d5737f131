"""Run the command `onesided` as ``python -m onesided.cli``."""

import sys

from onesided.cli import main

if __name__ == "__main__":
    sys.exit(main() or 0)
