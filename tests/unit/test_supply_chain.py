"""What Longtail is made of: every package is pinned by hash, known by its licence, and in the bill of materials."""

import re

from bench.supply import LOCK, build_sbom, is_accepted, read_installed, read_lock

PACKAGES = list(read_lock(LOCK.read_text(), read_installed()))


def test_every_pin_of_the_lock_is_read_and_has_a_hash() -> None:
    assert len(PACKAGES) == len(re.findall(r"^[A-Za-z0-9._-]+==", LOCK.read_text(), re.MULTILINE))
    assert all(package.sha256 for package in PACKAGES)


def test_every_installed_package_has_a_licence_that_goes_with_ours() -> None:
    doubtful = {
        one.name: one.licence for one in PACKAGES if one.licence is not None and not is_accepted(one.licence)
    }
    assert doubtful == {}


def test_the_bill_of_materials_names_every_package_once_with_its_hashes() -> None:
    bill = build_sbom(PACKAGES)
    names = [part["purl"] for part in bill["components"]]
    assert len(names) == len(set(names)) == len(PACKAGES)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert all(part["hashes"] for part in bill["components"])
