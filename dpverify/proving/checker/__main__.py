"""The checker's command line: `python -m dpverify.proving.checker FILE...`."""

import json
import sys
from pathlib import Path

from dpverify.proving.checker import Confirmation, check


def main(paths: list[str]) -> int:
    """Check files and print a line for each: 0 if all are confirmed, 1 if not, 2 for bad input."""
    code = 0 if paths else 2
    for path in paths:
        try:
            found = check(json.loads(Path(path).read_text(encoding="utf-8")))
            code = max(code, 0 if found.confirmed else 1)
        except (OSError, ValueError) as error:
            found, code = Confirmation(False, f"cannot be read: {error}"), 2
        print(f"{path}: {'confirmed: ' if found.confirmed else ''}{found.says}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
