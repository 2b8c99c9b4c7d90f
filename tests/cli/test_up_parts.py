"""The data folder's lock, up.json, the listening socket and valkey's socket."""

import json
import os
import socket
import stat
from pathlib import Path

import pytest

from agora_web.cli import address, up, valkey
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
