"""``python -m onesided.cli`` is the command `onesided`."""

import sys

from onesided.cli import main

if __name__ == "__main__":
    sys.exit(main() or 0)
