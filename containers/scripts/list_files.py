"""Print what an image holds as JSON: for each path kind, mode and content. Run in the image."""

import hashlib
import json
import os
import stat
import sys
from pathlib import Path

# what is mounted over the image is no part of it
MOUNTED = {"/proc", "/sys", "/dev", "/tmp", "/var/tmp", "/root", "/home"}


def describe(path: str) -> str:
    """Return kind and mode of a path, and its content's SHA-256 or where it leads."""
    status = Path(path).lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"link to {Path(path).readlink()}"
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    if not stat.S_ISREG(status.st_mode):
        return f"{'folder' if stat.S_ISDIR(status.st_mode) else 'special'} {mode}"
    try:
        content = Path(path).read_bytes()
        return f"file {mode} {hashlib.sha256(content).hexdigest()}"
    except PermissionError:
        return f"file {mode} of {status.st_size} bytes"


found = {}
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if str(Path(folder, name)) not in MOUNTED]
    for name in (*folders, *files):
        path = str(Path(folder, name))
        found[path] = describe(path)
json.dump(found, sys.stdout)
