"""A file system of its own with little room, so that a full disk is a real one."""

import shutil
import subprocess
import tempfile
from pathlib import Path

DISK_BYTES = 600 * 1024 * 1024


class SmallDisk:
    """A tmpfs that can be filled to the last byte; `is_mounted` is False where this user may not mount one."""

    def __init__(self, size_bytes: int = DISK_BYTES) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="longtail-disk-"))
        self.path.chmod(0o755)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=755", "tmpfs", str(self.path)],
            capture_output=True,
            text=True,
            check=False,
        )
        self.is_mounted = done.returncode == 0
        self.problem = done.stderr.strip()

    def fill(self) -> None:
        """Take all that is left."""
        with open(self.path / "ballast", "ab", buffering=0) as file:
            for size in (1024 * 1024, 4096, 512):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def free(self) -> None:
        """Give it back."""
        (self.path / "ballast").unlink(missing_ok=True)

    def remove(self) -> None:
        """Nothing is left of it."""
        if self.is_mounted:
            subprocess.run(["umount", "-l", str(self.path)], check=False)
        shutil.rmtree(self.path, ignore_errors=True)
