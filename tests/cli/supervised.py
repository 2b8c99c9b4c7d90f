"""A supervisor over stand-in children, run as a program by the tests: `supervised.py CASE.json`.

The case: {"children": [{name, code, foundation?}], "pids": file, "patience": [...], "grace": [...], "leash": class?}.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agora_web.cli import leash, supervise  # noqa: E402
from agora_web.cli.child import Spec  # noqa: E402
from agora_web.cli.errors import Refusal, Stopped  # noqa: E402
from agora_web.cli.output import Output  # noqa: E402


def main(case: dict) -> int:
    if case.get("leash"):
        supervise.make_leash = getattr(leash, case["leash"])
    pids = Path(case["pids"])
    supervisor = supervise.Supervisor(
        Output(1), lambda processes: _write(pids, processes), supervise.Patience(*case.get("patience", []))
    )
    try:
        for child in case["children"]:
            command = [sys.executable, "-c", child["code"]]
            foundation = child.get("foundation", False)
            supervisor.start(Spec(child["name"], command, dict(os.environ), pids.parent, foundation=foundation))
        supervisor.wait(lambda: False)
    except Stopped:
        return 0
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    finally:
        supervisor.stop(supervise.Grace(*case.get("grace", [])))
    return 0


def _write(path: Path, processes: dict[str, int]) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(processes))
    fresh.replace(path)


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text())))
