"""`make sbom` and `make licences`: what Longtail is made of, from the lock file and what the packages say of themselves.

The lock names every package with its hashes, for every platform; a licence is known of those that are installed here.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from api.version import find_version

LOCK = Path(__file__).parents[1] / "requirements.lock"
# Licences under which a package may be used and passed on with a work under Apache-2.0, unchanged.
ACCEPTED = (
    "MIT",
    "BSD",
    "Apache",
    "ISC",
    "PSF",
    "Python Software Foundation",
    "MPL",
    "Mozilla",
    "LGPL",
    "0BSD",
    "Zlib",
)
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>[^\\]+?))?\s*\\?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One pinned package, and what is known of it here."""

    name: str
    version: str
    sha256: tuple[str, ...]
    marker: str | None  # where it is installed, if not everywhere
    licence: str | None  # None where it is not installed here


def read_lock(text: str, installed: dict[str, Distribution]) -> Iterator[Package]:
    """Every package of a lock file, in its order."""
    for block in re.split(r"\n(?=\S)", text.strip()):
        found = _PIN.match(block.splitlines()[0]) if block else None
        if found is None:
            continue
        here = installed.get(_fold(found["name"]))
        yield Package(
            name=found["name"],
            version=found["version"],
            sha256=tuple(_HASH.findall(block)),
            marker=found["marker"],
            licence=find_licence(here) if here else None,
        )


def find_licence(package: Distribution) -> str:
    """The SPDX expression of a package, else its classifiers, else the first line of what it says."""
    said = package.metadata.get_all("License-Expression")
    if said:
        return str(said[0])
    classifiers = [
        one.rpartition("::")[2].strip()
        for one in package.metadata.get_all("Classifier") or []
        if one.startswith("License ::")
    ]
    first = "".join(package.metadata.get_all("License") or ()).strip().partition("\n")[0][:60]
    return " AND ".join(classifiers) or first or "unknown"


def read_installed() -> dict[str, Distribution]:
    """What is installed beside us, by folded name."""
    return {_fold(one.metadata["Name"]): one for one in distributions()}


def is_accepted(licence: str) -> bool:
    """Whether every part of a licence is one that goes with ours.

    >>> is_accepted("MIT AND MPL-2.0"), is_accepted("AGPL-3.0-only"), is_accepted("unknown")
    (True, False, False)
    """
    parts = [part for part in re.split(r"\s+(?:AND|OR)\s+", licence) if part != "DFSG approved"]
    return bool(parts) and all(
        "AGPL" not in part and any(known in part for known in (*ACCEPTED, "CC0")) for part in parts
    )


def build_sbom(packages: Sequence[Package]) -> dict[str, Any]:
    """A CycloneDX 1.6 document; the same for the same lock."""
    root = f"pkg:pypi/longtail@{find_version()}"
    parts = [
        {
            "type": "library",
            "bom-ref": _purl(one),
            "name": one.name,
            "version": one.version,
            "purl": _purl(one),
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in one.sha256],
            **({"licenses": [{"license": {"name": one.licence}}]} if one.licence else {}),
            **({"properties": [{"name": "python:marker", "value": one.marker}]} if one.marker else {}),
        }
        for one in packages
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "longtail",
                "version": find_version(),
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": root, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def list_licences(packages: Sequence[Package]) -> str:
    """A line for each package."""
    return "\n".join(
        f"{one.name:32} {one.version:16} {one.licence or 'not installed here'}"
        + ("" if one.licence is None or is_accepted(one.licence) else "   <- look at this one")
        for one in packages
    )


def _purl(package: Package) -> str:
    return f"pkg:pypi/{_fold(package.name)}@{package.version}"


def _fold(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Write the list or the bill of materials to standard output."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=["sbom", "licences"])
    chosen = arguments.parse_args().what
    packages = list(read_lock(LOCK.read_text(), read_installed()))
    print(json.dumps(build_sbom(packages), indent=2) if chosen == "sbom" else list_licences(packages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
