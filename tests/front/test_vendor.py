import hashlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVED = ROOT / "static" / "vendor"
FOLDERS = [SERVED, ROOT / "tests" / "browser" / "vendor"]
each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=["served", "for the tests"])


def files(folder: Path) -> list[dict]:
    return json.loads((folder / "vendor.json").read_text())["files"]


@each_folder
def test_every_vendored_file_has_the_documented_hash_and_its_licence(folder):
    for entry in files(folder):
        assert hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"], entry["file"]
        assert (folder / entry["licence_file"]).stat().st_size > 300


@each_folder
def test_every_vendored_script_is_documented(folder):
    assert {path.name for path in folder.glob("*.js")} == {entry["file"] for entry in files(folder)}


@each_folder
def test_the_name_of_a_vendored_file_carries_its_version(folder):
    for entry in files(folder):
        assert entry["version"] in entry["file"]


def test_htmx_and_its_websocket_extension_are_one_file_without_a_source_map():
    text = (SERVED / "htmx-4.0.1-ws.js").read_text()
    assert 'registerExtension("ws"' in text or "registerExtension('ws'" in text
    assert "sourceMappingURL" not in text
