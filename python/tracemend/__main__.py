"""The program `tracemend`, in the process of the interpreter."""

import signal
import sys

from tracemend import _native


def main() -> None:
    """Runs the command line with the arguments of the process; does not return."""
    # The program handles them itself, which an interpreter in the middle of a call does not.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _native.main(["tracemend", *sys.argv[1:]])


if __name__ == "__main__":
    main()
