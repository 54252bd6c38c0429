#!/usr/bin/env python3
"""Pastes what `./dev run` prints ("Try it from another terminal") beside what docs/first_calls.md says to do meanwhile.

    dev_run.py ROOT PROGRAM

Those calls are a test of their own (run.py); here its model is loaded, too, so that there are two.
"""
import json
import os
import re
import subprocess
import sys

from runners import execute
from server import Server

OTHER_MODEL = {"param": {"model_path": "simulator/models/fast.json"}}


def printed_examples(root, server):
    """The commands, as the script itself makes them for this server."""
    with open(os.path.join(root, "dev"), encoding="utf-8") as file:
        script = file.read()
    functions = "\n".join(re.search(rf"^{name}\(\) \{{.*?(?:^\}}|\}})$", script, re.M | re.S)[0]
                          for name in ("say", "port_of", "print_examples"))
    shell = f'run_directory={server.place}\nprogram={server.program}\n{functions}\nprint_examples llm-1\n'
    printed = subprocess.run(["bash", "-euc", shell], cwd=server.place, text=True, capture_output=True, check=True).stdout
    commands = printed.partition("Try it from another terminal")[2].splitlines()[1:]
    return [line for line in commands if line and not line.startswith("#")]


def main():
    root, program = map(os.path.abspath, sys.argv[1:])
    with Server(root, program, "model") as server:  # llm-1, as ./dev run has loaded it
        subprocess.run([program, "call", "rkllm_init", json.dumps(OTHER_MODEL)], cwd=server.place, env=server.environment,
                       check=True, stdout=subprocess.DEVNULL)
        commands = printed_examples(root, server)
        if len(commands) != 9:
            print(f"./dev run prints {len(commands)} commands; this test knows 9:\n" + "\n".join(commands))
            return 1
        failures = 0
        for command in commands:
            status, printed, said = execute(["bash", "-c", command], server)
            if status != 0 or not printed or '"error"' in printed + said:
                print(f"$ {command}\nends with {status}:\n{printed}{said}")
                failures += 1
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
