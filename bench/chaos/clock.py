"""A clock that can be set back for some processes alone, while their timers run on as they do on a real machine."""

from pathlib import Path

from bench.chaos.shims import compile_shim

# libfaketime moves the monotonic clock too, which no machine does, or breaks Python's sleep when told not to.
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long seconds_ahead(void) {
  char text[32] = {0};
  const char *path = getenv("CHAOS_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  return got > 0 ? strtol(text, 0, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (!result && clock == CLOCK_REALTIME) now->tv_sec += seconds_ahead();
  return result;
}
"""


class Clock:
    """The wall clock of processes started with `environment`; `is_there` is False where no C compiler is."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        library = compile_shim(folder, "clock", SOURCE)
        self.is_there = library is not None
        self.environment = (
            {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self._file)} if self.is_there else {}
        )
        self.set_ahead(0)

    def set_ahead(self, seconds: int) -> None:
        """From now on the clock is so much ahead of the machine's; behind, where negative."""
        self._file.write_text(str(seconds))
        self._file.chmod(0o644)
