import hashlib
import json
from pathlib import Path

VENDOR = Path(__file__).parents[2] / "static" / "vendor"
FILES = json.loads((VENDOR / "vendor.json").read_text())["files"]


def test_every_vendored_file_has_the_documented_hash_and_its_licence():
    for entry in FILES:
        assert hashlib.sha256((VENDOR / entry["file"]).read_bytes()).hexdigest() == entry["sha256"], entry["file"]
        assert (VENDOR / entry["licence_file"]).stat().st_size > 300


def test_every_vendored_script_is_documented():
    assert {path.name for path in VENDOR.glob("*.js")} == {entry["file"] for entry in FILES}


def test_the_name_of_a_vendored_file_carries_its_version():
    for entry in FILES:
        assert entry["version"] in entry["file"]


def test_htmx_and_its_websocket_extension_are_one_file_without_a_source_map():
    text = (VENDOR / "htmx-4.0.1-ws.js").read_text()
    assert 'registerExtension("ws"' in text or "registerExtension('ws'" in text
    assert "sourceMappingURL" not in text
