"""Where the local stack puts things, and who may look at them."""

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.stack.home import layout as places
from api.stack.home.accounts import Account, can_enter, find_operator, find_service_account
from api.stack.home.files import hold_lock, make_folder, write_file
from api.stack.home.layout import SOCKET_PATH_BYTES_MAX, find_control_socket, plan_layout, prepare_folders
from models.errors import Misconfigured, TransientError

AS_ROOT = os.geteuid() == 0


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, so that sockets fit; open, so that the servers' account may pass through."""
    with tempfile.TemporaryDirectory(prefix="lt-") as name:
        Path(name).chmod(0o711)
        yield Path(name).resolve()


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_private_from_birth_and_replaced_as_a_whole(folder: Path) -> None:
    file = folder / "token"
    write_file(file, "one")
    first = file.stat().st_ino
    write_file(file, "two")
    assert file.read_text() == "two"
    assert mode_of(file) == 0o600
    assert file.stat().st_ino != first
    assert list(folder.iterdir()) == [file]


def test_a_file_that_cannot_be_written_names_itself_and_a_remedy(folder: Path) -> None:
    with pytest.raises(Misconfigured, match=r"cannot write .*/absent/token") as caught:
        write_file(folder / "absent" / "token", "x")
    assert "LONGTAIL_HOME" in (caught.value.remedy or "")


def test_a_folder_is_made_private_even_when_it_was_not(folder: Path) -> None:
    opened = folder / "run"
    opened.mkdir(mode=0o755)
    make_folder(opened)
    assert mode_of(opened) == 0o700


def test_a_file_in_the_place_of_a_folder_is_refused(folder: Path) -> None:
    (folder / "run").write_text("")
    with pytest.raises(Misconfigured):
        make_folder(folder / "run")


def test_the_lock_is_held_by_one_and_names_its_holder(folder: Path) -> None:
    lock = folder / "up.lock"
    with (
        hold_lock(lock, wait_seconds=0),
        pytest.raises(TransientError, match=f"process {os.getpid()}"),
        hold_lock(lock, wait_seconds=0),
    ):
        pass
    with hold_lock(lock, wait_seconds=0):
        assert mode_of(lock) == 0o600


@pytest.mark.parametrize("character", ['"', "'", "\\", ";", "#", "%", "?", "\n"])
def test_a_home_that_configuration_files_cannot_spell_is_refused(folder: Path, character: str) -> None:
    with pytest.raises(Misconfigured, match="LONGTAIL_HOME"):
        plan_layout(folder / f"a{character}b", "nobody")


def test_a_home_with_spaces_and_letters_of_any_script_is_fine(folder: Path) -> None:
    assert plan_layout(folder / "my données λ", "nobody").home == folder / "my données λ"


def test_a_linked_home_is_the_folder_it_points_to(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    assert plan_layout(folder / "link", "nobody").home == folder / "real"


def test_sockets_stay_in_home_while_their_paths_fit() -> None:
    home = Path("/srv/longtail")
    assert find_control_socket(home) == home / "run" / "supervisor.sock"


def test_a_long_home_moves_every_socket_to_a_short_folder() -> None:
    layout = plan_layout(Path("/srv") / ("x" * 120), "nobody")
    for path in (layout.control_socket, layout.sockets / places.LONGEST_SOCKET_NAME, layout.redis_socket):
        assert len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX


def test_the_short_folder_is_the_same_for_every_command_and_another_for_every_home() -> None:
    one, two = Path("/srv") / ("x" * 120), Path("/srv") / ("y" * 120)
    assert find_control_socket(one) == find_control_socket(one)
    assert find_control_socket(one) != find_control_socket(two)


def test_only_root_drops_to_another_account() -> None:
    someone = Account(name="someone", uid=1234, gid=1234)
    assert find_service_account(someone, "nobody") == someone
    assert find_service_account(Account(name="root", uid=0, gid=0), "nobody").uid != 0


@pytest.mark.parametrize("name", ["root", "no-such-user-here"])
def test_servers_never_run_as_root_nor_as_nobody_we_know(name: str) -> None:
    with pytest.raises(Misconfigured, match="LONGTAIL_RUN_AS"):
        find_service_account(Account(name="root", uid=0, gid=0), name)


def test_secrets_live_in_folders_that_others_cannot_list(folder: Path) -> None:
    layout = plan_layout(folder / "home", "nobody")
    prepare_folders(layout, with_servers=False)
    assert mode_of(layout.home) == 0o700
    assert mode_of(layout.run) == mode_of(layout.logs) == 0o700


def test_the_servers_reach_their_data_and_nobody_else_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "SYSTEM_SERVERS", folder / "system")
    layout = plan_layout(folder / "home", "nobody")
    prepare_folders(layout, with_servers=True)
    for private in (layout.redis_data, layout.sockets):
        assert private.stat().st_uid == layout.service.uid
        assert mode_of(private) == 0o700
        assert can_enter(layout.service, private)
    for kept in (layout.postgres, layout.redis, layout.binaries):
        assert kept.stat().st_uid == layout.operator.uid
        assert mode_of(kept) & 0o066 == 0


def test_data_goes_apart_when_the_servers_cannot_enter_home(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = folder / "system"
    monkeypatch.setattr(places, "SYSTEM_SERVERS", apart)
    private = folder / "private"
    private.mkdir(mode=0o700)
    layout = plan_layout(private / "home", "nobody")
    assert layout.servers.parent == (apart if AS_ROOT else private)
    assert layout.drops_privileges is AS_ROOT


def test_data_that_lies_apart_is_found_again_when_home_becomes_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "SYSTEM_SERVERS", folder / "system")
    home = folder / "home"
    apart = folder / "system" / places.name_home(home)
    (apart / "postgres" / "data").mkdir(parents=True)
    found = plan_layout(home, "nobody").servers
    assert found == (apart if find_operator().uid == 0 else home)
