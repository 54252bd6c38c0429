#!/usr/bin/env python3
"""While about 64 MiB of logits go to one client: how long do others wait for the answer to a ping? Beside it the same
without the first client, in the same run. Usage: bulk_answers.py RKLLM_MCP LIBRARY MODEL"""
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time

WORDS = 410  # of about three tokens, each with a row of 8192 floats, which base64 makes 43 KiB: about 64 MiB
PROMPT = " ".join(f"w{number}" for number in range(WORDS))


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.rest = b""

    def call(self, method, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        parts = [self.rest]
        while not parts[-1].endswith(b"\n"):
            part = self.socket.recv(1 << 20)
            if not part:
                raise SystemExit("the server closed the connection")
            parts.append(part)
        return b"".join(parts)


def fetch(port, sizes):
    run = {"rkllm_input": {"input_type": "RKLLM_INPUT_PROMPT", "prompt_input": PROMPT}, "encoding": "base64",
           "rkllm_infer_params": {"mode": "RKLLM_INFER_GET_LOGITS", "max_new_tokens": 1}}
    began = time.monotonic()
    answer = Client(port).call("rkllm_run", run)
    if b'"error"' in answer[:200] or len(answer) < 32 * 2**20:
        answer = b""  # which is not what was to be measured
    sizes.put((len(answer), time.monotonic() - began))


def pings(port, goes_on):
    client, waits = Client(port), []
    while goes_on():
        began = time.monotonic()
        client.call("ping", {})
        waits.append(time.monotonic() - began)
        time.sleep(0.001)
    return sorted(1000 * wait for wait in waits)


def row(name, waits):
    print(f"{name:34} {len(waits):7} {waits[len(waits) // 2]:8.2f} {waits[int(0.99 * len(waits))]:8.2f} {waits[-1]:8.2f}")


def main():
    program, library, model = sys.argv[1:4]
    folder = tempfile.mkdtemp()
    ports_file = os.path.join(folder, "ports.json")
    settings = [word for name in ("tcp", "udp", "http", "ws") for word in ("--set", f"{name}.port=0")]
    server = subprocess.Popen([program, "serve", "--ports-file", ports_file, "--set", f"runtime.library={library}",
                               "--settings", os.path.join(folder, "settings.json"), *settings],
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(ports_file):
            time.sleep(0.05)
        with open(ports_file, encoding="utf-8") as file:
            port = json.load(file)["tcp"]["port"]
        Client(port).call("rkllm_init", {"param": {"model_path": model, "max_context_len": 4096}})
        print(f"{'pings of another client, ms':34} {'count':>7} {'p50':>8} {'p99':>8} {'max':>8}")
        until = time.monotonic() + 2
        row("floor: nothing else", pings(port, lambda: time.monotonic() < until))
        sizes = multiprocessing.Queue()
        bulk = multiprocessing.Process(target=fetch, args=(port, sizes))
        bulk.start()
        waits = pings(port, bulk.is_alive)
        size, seconds = sizes.get()
        if size == 0:
            raise SystemExit("the run was refused, or its answer is too short")
        row(f"{size / 2**20:.1f} MiB in {seconds:.1f} s to one client", waits)
    finally:
        server.terminate()
        server.wait()


main()
