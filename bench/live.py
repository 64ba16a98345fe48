"""Live runs next to the ideal time of a server, and to a plain loop that starts the same processes.

`python -m bench.live` prints a table.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from bench.timing import peak_memory

RUNS = 1_000
AT_ONCE = 50
SECONDS = 0.05
"""What the server takes for an answer."""
PROCESSES = 1_000
PROGRAM = [sys.executable, "-I", "-S", "-c", "input(); print('hello')"]

SERVER = """
import asyncio, sys
BODY = b'{"answer": "hello", "steps": []}'
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(BODY)
async def serve(reader, writer):
    try:
        while head := await reader.readuntil(b"\\r\\n\\r\\n"):
            length = next(int(line[15:]) for line in head.split(b"\\r\\n") if line[:15].lower() == b"content-length:")
            await reader.readexactly(length)
            await asyncio.sleep(%(seconds)s)
            writer.write(HEAD + BODY)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def write_suite(folder: Path, runs: int, agent: dict[str, object]) -> str:
    folder.mkdir()
    scenario = {"id": "A", "query": "Hello", "repeat": runs, "correctness": {"expected_in_answer": "hello"}}
    suite = {"suite": "bench", "agent": {**agent, "concurrency": AT_ONCE}, "scenarios": [scenario]}
    (folder / "passmuster.json").write_text(json.dumps(suite))
    return str(folder)


def record(suite: str, into: Path, at_once: int | None = None) -> float:
    """Seconds that a session takes, from the suite to the file."""
    from passmuster import api

    if at_once:
        path = Path(suite) / "passmuster.json"
        path.write_text(path.read_text().replace(f'"concurrency": {AT_ONCE}', f'"concurrency": {at_once}'))
    started = perf_counter()
    done = api.record_runs(suite, str(into), api.RecordOptions(root=suite))
    seconds = perf_counter() - started
    assert not done.failed, done
    return seconds


def plain_loop(runs: int, at_once: int) -> float:
    """Seconds that the same processes take when nothing else is done."""

    def one(_: int) -> None:
        done = subprocess.run(PROGRAM, input=b"Hello\n", capture_output=True, check=True)
        assert done.stdout == b"hello\n"

    started = perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(runs)))
    return perf_counter() - started


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="passmuster-bench-") as name:
        folder = Path(name)
        code = SERVER.replace("%(seconds)s", str(SECONDS))
        server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            agent: dict[str, object] = {"http": f"http://127.0.0.1:{int(server.stdout.readline())}/"}
            ideal = RUNS / AT_ONCE * SECONDS
            http = min(
                record(write_suite(folder / f"http{n}", RUNS, agent), folder / f"http{n}.jsonl") for n in range(3)
            )
            peaks = []
            for runs in (100, RUNS):
                suite = write_suite(folder / f"memory{runs}", runs, agent)
                command = [sys.executable, "-m", "passmuster", "record", suite, "-o", f"{suite}.jsonl", "--root", suite]
                peaks.append(peak_memory(command))
        finally:
            server.kill()
            server.wait()
        plain = started = float("inf")
        for n in range(3):
            plain = min(plain, plain_loop(PROCESSES, 4))
            suite = write_suite(folder / f"command{n}", PROCESSES, {"command": PROGRAM})
            started = min(started, record(suite, folder / f"command{n}.jsonl", 4))
    rows = [
        (f"{RUNS} runs of a 50 ms server, {AT_ONCE} at once ÷ the ideal time ({ideal:g} s)", http / ideal, 1.5),
        (f"{PROCESSES} runs of a program, 4 at once ÷ a plain loop ({plain:.2f} s)", started / plain, 1.5),
        (f"peak memory at {RUNS} runs ÷ at 100 ({peaks[0] / 1024:.0f} MB)", peaks[1] / peaks[0], 1.3),
    ]
    print("| measured | ratio | limit |\n|---|---|---|")
    for what, ratio, limit in rows:
        print(f"| {what} | {ratio:.2f} | ≤ {limit:g} |")


if __name__ == "__main__":
    main()
