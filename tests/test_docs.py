"""What is documented is there, and what is there is documented."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
READS = re.compile(r"environ(?:\.get\(|\[|\.setdefault\()\s*\"([A-Z_]+)\"|\$\{?(AGORA_[A-Z_]+)")
FOREIGN = {
    "DJANGO_SETTINGS_MODULE",
    "PYENV_ROOT",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
}  # set by others, for others too
MADE_BY_TEST = {"AGORA_POSTGRES_BIN"}  # handed from `manage.py test` to pytest, not for people


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split()]


def test_every_variable_that_the_code_reads_is_documented():
    read = set()
    for path in tracked("agora_web/*.py", "agora_node/*.py", "roster/*.py", "inbox/*.py", "manage.py"):
        read |= {first or second for first, second in READS.findall(path.read_text())}
    told = (ROOT / "docs/settings.md").read_text() + (ROOT / "docs/node.md").read_text()
    assert {name for name in read - FOREIGN - MADE_BY_TEST if f"`{name}`" not in told} == set()
    assert {"AGORA_DATA", "DATABASE_URL", "REDIS_URL"} <= read, "the pattern finds nothing, so it proves nothing"


@pytest.mark.parametrize("page", DOCS, ids=lambda path: path.name)
def test_every_link_and_every_file_named_in_a_page_exists(page):
    text = page.read_text()
    linked = [target for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in target]
    missing = [target for target in linked if not (page.parent / target).exists()]
    named = re.findall(r"`((?:roster|inbox|agora_web|agora_node|templates|static|tests)/[\w./-]+)`", text)
    missing += [name for name in named if not (ROOT / name).exists()]
    assert missing == []


WALKS = {
    1: ["routing.py", "lean.py", "auth.py", "api/registry.py", "groupcommit.py", "presence.py", "events.py", "feed.py",
        "consumers.py", "live.js"],
    2: ["lean.py", "auth.py", "api/mail.py", "letters.py", "sending.py", "addressing.py", "boxes.py", "receipts.py", "models/mail.py",
        "queries/box.py", "leases.py", "settling.py", "rules.py"],
    3: ["views/employment.py", "switch.py", "roster/access/", "roster/employment.py", "work.py", "port.py", "exchanges.py", "running.py",
        "waiting.py", "prompting.py", "models/exchange.py", "turns.py", "run_node.py"],
}  # fmt: skip


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_names_the_files_in_the_order_in_which_it_meets_them(walk):
    text = (ROOT / "docs/how-it-works.md").read_text().split(f"## Walk {walk}")[1].split("\n## ")[0]
    places = [text.index(step) for step in WALKS[walk]]
    assert places == sorted(places)


def test_every_command_of_the_readme_is_one_that_exists():
    text = (ROOT / "README.md").read_text()
    commands = set(re.findall(r"manage\.py ([\w-]+)", text)) - {"up", "test"}
    own = {path.stem for path in (ROOT / "roster/management/commands").glob("*.py")}
    assert commands and commands <= own


def test_the_pinned_files_name_no_host_and_pin_every_package():
    for name in ("requirements.txt", "requirements-test.txt"):
        lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.lstrip().startswith("#")]
        assert not [line for line in lines if "://" in line or line.startswith("-")]
        assert all("==" in line for line in lines)


def test_every_dependency_says_why_it_is_there():
    import tomllib

    told = (ROOT / "docs/dependencies.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = project["project"]["dependencies"] + project["dependency-groups"]["uvicorn"]
    names = [re.match(r"[\w-]+", each)[0] for each in declared]
    assert [name for name in names if name not in told] == []
