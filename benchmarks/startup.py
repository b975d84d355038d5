"""Startup time of `python app.py`, relative to `import gradio` with an empty Blocks.

    python -m benchmarks.startup [repetitions]

The two are started in turns; the ratio of the medians is the number to watch (at most 1.1). torch and timm are
imported after the page has opened, and only ours pauses the garbage collector until then.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EMPTY = """
import os, gradio
with gradio.Blocks(analytics_enabled=False) as page: pass
page.launch(server_port=int(os.environ["VIT_PORT"]), quiet=True, ssr_mode=False)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def seconds_to_answer(command: list[str]) -> float:
    """Return the seconds from the start of a process to its first HTTP 200."""
    port = free_port()
    environment = {**os.environ, "VIT_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"{command} ended with {process.returncode} before it answered.")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    answer.read()
                return time.perf_counter() - start
            except OSError:  # not yet there, or slow to answer
                time.sleep(0.02)
    finally:
        process.kill()
        process.wait()


def main(repetitions: int = 5) -> None:
    ours, empty = [], []
    for _ in range(repetitions):
        empty.append(seconds_to_answer([sys.executable, "-c", EMPTY]))
        ours.append(seconds_to_answer([sys.executable, "app.py"]))
    print(f"import gradio + empty Blocks  {statistics.median(empty):6.2f} s")
    print(f"python app.py                 {statistics.median(ours):6.2f} s")
    print(f"ratio                         {statistics.median(ours) / statistics.median(empty):6.2f}   (at most 1.1)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
