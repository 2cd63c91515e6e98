"""Which version is installed; standard library only, so that a hook may ask."""


def find_version() -> str:
    """The installed version; '0+unknown' in a tree that was never installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("longtail")
    except PackageNotFoundError:
        return "0+unknown"
