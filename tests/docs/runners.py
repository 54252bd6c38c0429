"""How each kind of snippet is run. A runner returns nothing, raises Wrong, or raises NotHere for what this machine lacks."""
import ast
import importlib.util
import os
import re
import shutil
import subprocess

from comparison import difference
from snippets import commands_of

PATIENCE_S = 120


class Wrong(Exception):
    """What a snippet does is not what its document says."""


class NotHere(Exception):
    """The snippet takes something that this machine lacks."""


def require(program):
    path = shutil.which(program)
    if path is None:
        raise NotHere(f"{program} is not installed")
    return path


def execute(command, server, **options):
    """(exit code, standard output, standard error)"""
    try:
        done = subprocess.run(command, cwd=server.place, env=server.environment, stdin=subprocess.DEVNULL, text=True,
                              encoding="utf-8", capture_output=True, timeout=PATIENCE_S, **options)
    except subprocess.TimeoutExpired as late:
        raise Wrong(f"{command[0]} does not end; it has said:\n{late.stdout}\n{late.stderr}") from None
    return done.returncode, done.stdout, done.stderr


def compare(shown, printed, server, what):
    why = difference(shown, server.generalized(printed))
    if why:
        raise Wrong(f"{what}: {why}\n\nAll that was printed:\n{server.generalized(printed)}")


# --- consoles -------------------------------------------------------------------------------------------------------

BORDER = "\x1e"


def run_console(snippet, server):
    commands = commands_of(snippet.text)
    script = "exec 2>&1\nshopt -s expand_aliases\n"  # a terminal shows both
    for command in commands:
        script += f"{server.localized(command.text)}\nprintf '{BORDER}'\n"
    status, printed, _ = execute(["bash", "-c", script + "exit 0"], server)
    outputs = printed.split(BORDER)
    if status != 0 or len(outputs) != len(commands) + 1:
        raise Wrong(f"the console ended with {status}:\n{printed}")
    for command, output in zip(commands, outputs):
        compare(command.output, output, server, f"$ {command.text}\n")


# --- programs -------------------------------------------------------------------------------------------------------

def run_program(snippet, server, compiler):
    command = {"python": python, "js": javascript, "cpp": cpp, "go": go}[snippet.language](snippet, server, compiler)
    status, printed, said = execute(command, server)
    if status != 0:
        raise Wrong(f"it ended with {status}:\n{printed}\n{said}")
    compare(snippet.output, printed, server, "its output")


def written(snippet, server, name):
    path = os.path.join(server.place, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(server.localized(snippet.text))
    return path


def python(snippet, server, _):
    for node in ast.walk(ast.parse(snippet.text)):
        names = [node.module] if isinstance(node, ast.ImportFrom) else \
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if importlib.util.find_spec(name.split(".")[0]) is None:
                raise NotHere(f"the Python package {name.split('.')[0]} is not installed")
    return [require("python3"), written(snippet, server, "snippet.py")]


def javascript(snippet, server, _):
    node = require("node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    package = re.search(r"@langchain/\w+|(?<=')openai(?=')", snippet.text)
    if package and tuple(map(int, re.findall(r"\d+", version)))[:2] < (20, 10):
        raise NotHere(f"{package[0]} needs Node.js 20.10, {node} is {version.strip()}")
    return [node, written(snippet, server, "snippet.mjs")]


def cpp(snippet, server, compiler):
    program = os.path.join(server.place, "snippet")
    status, _, said = execute([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror",
                               written(snippet, server, "snippet.cpp"), "-o", program], server)
    if status != 0:
        raise Wrong(f"it does not compile:\n{said}")
    return [program]


def go(snippet, server, _):
    path = written(snippet, server, "snippet.go")
    formatter = shutil.which("gofmt")
    if formatter and execute([formatter, "-l", path], server)[1]:
        raise Wrong("gofmt would write it otherwise:\n" + execute([formatter, "-d", path], server)[1])
    return [require("go"), "run", path]
