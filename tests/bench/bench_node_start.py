"""How long `agora` takes to start, over the interpreter's own start.

    python tests/bench/bench_node_start.py [--check] [--runs N]

`--check` exits with 1 when the median of `--version` exceeds the limit.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MS = 40.0
INTERPRETER = ("interpreter alone", ["-c", "pass"])
STARTS = (
    ("agora --version", ["-m", "agora_node", "--version"]),
    ("agora heartbeat --help", ["-m", "agora_node", "heartbeat", "--help"]),
    ("heartbeat, refused without a login", ["-m", "agora_node", "heartbeat"]),
    ("heartbeat, hub not there", ["-m", "agora_node", "heartbeat"]),
)


def environment(home, name):
    """An environment with its own home; with a hub (nobody listens on port 9) only where the start wants one."""
    env = {"HOME": home, "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return {**env, "AGORA_HUB": "http://127.0.0.1:9", "AGORA_TOKEN": "t"} if name.endswith("hub not there") else env


def measure(arguments, env):
    """Milliseconds from starting the process to its end."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begun) * 1000


def rounds(runs):
    """All starts in turn, so that a busy moment of the machine meets each of them; name -> list of ms."""
    taken = {name: [] for name, _ in (INTERPRETER, *STARTS)}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(runs + 1):
            for name, arguments in (INTERPRETER, *STARTS):
                taken[name].append(measure(arguments, environment(home, name)))
    # The first round compiles and fills caches.
    return {name: values[1:] for name, values in taken.items()}


def main():
    """Measure, print the table, and with --check hold the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help=f"fail when `--version` adds more than {LIMIT_MS:.0f} ms")
    parser.add_argument("--runs", type=int, default=25)
    args = parser.parse_args()
    medians = {name: statistics.median(values) for name, values in rounds(args.runs).items()}
    base = medians[INTERPRETER[0]]
    print(f"{'start':<36} {'median ms':>10} {'over the interpreter':>21}")
    for name, value in medians.items():
        print(f"{name:<36} {value:>10.1f} {value - base:>21.1f}")
    over = medians["agora --version"] - base
    return 1 if args.check and over > LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main())
