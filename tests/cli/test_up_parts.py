"""The data folder's lock, up.json, the listening socket and valkey's socket."""

import contextlib
import json
import os
import resource
import signal
import socket
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from agora_web.cli import address, hub, up, valkey
from agora_web.cli.errors import Refusal
from agora_web.cli.handle import Claim


def test_a_second_claim_on_the_same_folder_is_refused_naming_the_first_and_another_folder_is_not(tmp_path):
    first = Claim(tmp_path / "one")
    first.sign("http://127.0.0.1:8000")
    with pytest.raises(Refusal) as refusal:
        Claim(tmp_path / "one")
    assert f"process {os.getpid()}, http://127.0.0.1:8000" in str(refusal.value)
    Claim(tmp_path / "two")


def test_a_claim_removes_the_handle_that_a_killed_hub_left(tmp_path):
    (tmp_path / "up.json").write_text("{}")
    Claim(tmp_path)
    assert not (tmp_path / "up.json").exists()


def test_a_folder_that_cannot_be_written_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal, match="cannot be used: Not a directory"):
        Claim(tmp_path / "file" / "data")


def test_the_handle_is_for_its_owner_alone_and_is_replaced_whole(tmp_path):
    claim = Claim(tmp_path)
    claim.publish({"pid": 1})
    claim.publish({"pid": 2})
    file = tmp_path / "up.json"
    assert json.loads(file.read_text()) == {"pid": 2}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    claim.withdraw()
    assert not file.exists()


def test_a_note_and_a_handle_that_find_no_room_are_refused_in_one_sentence_and_the_old_handle_stays(tmp_path):
    claim = Claim(tmp_path)
    claim.publish({"pid": 1})
    with no_room(), pytest.raises(Refusal, match="cannot be used: File too large"):
        claim.publish({"pid": 2})
    with no_room(), pytest.raises(Refusal, match="cannot be used: File too large"):
        claim.sign("http://127.0.0.1:8000")
    assert json.loads((tmp_path / "up.json").read_text()) == {"pid": 1}
    claim.publish({"pid": 2})
    assert json.loads((tmp_path / "up.json").read_text()) == {"pid": 2}


@contextlib.contextmanager
def no_room():
    """No file of this process may grow: what a full disk does, without one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_handle_that_finds_no_room_does_not_end_the_hub_and_is_written_when_there_is_some(tmp_path, monkeypatch):
    """The disk is full and a child is started again: the hub goes on, and says so."""
    later, said = [], []
    loop = SimpleNamespace(after=lambda seconds, act: later.append(act))
    supervisor = SimpleNamespace(loop=loop, processes=lambda: {"web": 2})
    monkeypatch.setattr(hub, "Supervisor", lambda *args: supervisor)
    with address.listen("127.0.0.1", 0) as listener:
        running = hub.Hub(tmp_path, Claim(tmp_path), listener, "127.0.0.1", SimpleNamespace(say=said.append))
    running.secrets = {"enrolment_token": "x", "sign_in_url": "y"}
    with no_room():
        running._publish_again({"web": 1})
    assert "up.json is out of date" in said[0]
    later.pop()()
    assert json.loads((tmp_path / "up.json").read_text())["processes"] == {"web": 2}
    assert not later


def test_a_hub_may_hold_8192_files_open_or_as_many_as_the_machine_allows_F131():
    """The scenario's check at the start: each open page and agent holds one, and the usual limit is 1,024."""
    before, said = resource.getrlimit(resource.RLIMIT_NOFILE), []
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        up._raise_descriptor_limit(SimpleNamespace(say=said.append))
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    enough = before[1] == resource.RLIM_INFINITY or before[1] >= 8192
    assert allowed == (8192 if enough else before[1])
    assert bool(said) != enough


def test_a_taken_port_is_refused_in_one_sentence_and_port_0_picks_a_free_one():
    with address.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert port > 0
        with pytest.raises(Refusal, match=f"port {port} on 127.0.0.1 is taken by another program"):
            address.listen("127.0.0.1", port)


def test_a_host_nobody_knows_is_refused():
    with pytest.raises(Refusal, match="neither an address nor a name"):
        address.listen("no such host", 0)


def test_loopback_adds_no_host_names_a_name_adds_itself_and_everywhere_adds_the_machines_own():
    assert address.host_names("127.0.0.1") == []
    assert address.host_names("hub.example") == ["hub.example"]
    assert address.host_names("fd00::7") == ["[fd00::7]"]
    assert socket.gethostname() in address.host_names("0.0.0.0")


def test_a_listener_everywhere_is_reached_over_loopback():
    with address.listen("0.0.0.0", 0) as listener:
        assert address.local_address(listener) == ("127.0.0.1", listener.getsockname()[1])


def test_valkeys_socket_lies_in_the_data_folder_or_where_its_path_is_short_enough(tmp_path):
    assert valkey.socket_path(Path("/srv/agora")) == Path("/srv/agora/run/valkey.sock")
    deep = tmp_path / ("d" * 100)
    assert len(os.fsencode(valkey.socket_path(deep))) <= valkey.LONGEST_SOCKET
    assert valkey.socket_path(deep) == valkey.socket_path(deep) != valkey.socket_path(deep / "other")


def test_a_socket_folder_of_somebody_else_is_refused_and_our_own_is_closed_to_others(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    data = tmp_path / ("d" * 100)
    data.mkdir()
    folder = valkey.socket_path(data).parent
    folder.symlink_to(data)
    with pytest.raises(Refusal, match="belongs to somebody else"):
        valkey.make_folders(data)
    folder.unlink()
    valkey.make_folders(data)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_port_that_is_none_is_refused_before_anything_starts(tmp_path, capsys):
    with pytest.raises(SystemExit):
        up.run(tmp_path, ["--port", "70000"])
    assert "give a number from 0 to 65535" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
