#!/bin/sh
# A Chromium for `make test-browser`: the one that is here, else Debian's, where we may install it.
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" > /dev/null; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null && exit 0
fi
echo "make test-browser needs Chromium; install it first, on Debian: apt-get install chromium" >&2
exit 1
