#!/bin/sh
# A Prometheus for `make test-monitoring`: the one that is here, else Debian's, unpacked into the folder that is named.
# It is not installed: the package would start a server of its own at every boot.
if command -v prometheus > /dev/null || test -x "$1/usr/bin/prometheus"; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    mkdir -p "$1" && here=$(cd "$1" && pwd) && apt-get update -qq && cd "$(mktemp -d)" \
        && apt-get -o APT::Sandbox::User=root download -qq prometheus && dpkg-deb -x prometheus_*.deb "$here" && exit 0
fi
echo "make test-monitoring needs Prometheus on the PATH; install it first, on Debian: apt-get install prometheus" >&2
exit 1
