"""Snippets for hosts of the protocol: files of settings, and commands that write them. Every server that they name is
really started or asked, as the host would, and has to answer `initialize`; where the host is installed, it has to take
them as well."""
import json
import os
import re
import select
import shlex
import subprocess
import urllib.request

from runners import NotHere, Wrong, execute, require
from server import MODEL, TOKEN
from snippets import commands_of

INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                         "clientInfo": {"name": "documentation test", "version": "1"}}}
PATIENCE_S = 30


# --- files of settings ----------------------------------------------------------------------------------------------

def run_settings(snippet, server):
    """A host's file, whose servers answer; or that of a chat client, whose addresses have the model."""
    servers = servers_in(snippet, server)
    for name, entry in servers.items():
        check_server(name, entry, server)
    if servers:
        return
    addresses = re.findall(r"""https?://[^\s"']+""", server.localized(snippet.text))
    if not addresses:
        raise Wrong("it names no server")
    if f'"{MODEL}"' not in server.localized(snippet.text) and f" {MODEL}\n" not in server.localized(snippet.text):
        raise Wrong("it names no model")
    for address in addresses:
        check_models(address)


def check_models(address):
    url = address + ("/models" if address.endswith("/v1") else "/api/tags")
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:
        said = response.read().decode()
    if f'"{MODEL}"' not in said:
        raise Wrong(f"{url} does not name {MODEL}: {said}")


def servers_in(snippet, server):
    text = server.localized(snippet.text)
    if snippet.language == "yaml":
        return {}
    if snippet.language == "json":
        whole = json.loads(text)
        return whole.get("mcpServers") or whole.get("servers") or {}
    try:
        import tomllib
    except ImportError:
        raise NotHere("Python reads TOML from version 3.11 on") from None
    return tomllib.loads(text).get("mcp_servers", {})


def check_server(name, entry, server):
    """`entry` has the members that the hosts agree on: command, args, env or url, headers."""
    if "url" in entry:
        headers = {key: filled(value) for key, value in entry.get("headers", {}).items()}
        if "bearer_token_env_var" in entry:
            headers["Authorization"] = "Bearer " + server.environment[entry["bearer_token_env_var"]]
        answer = ask_url(entry["url"], headers)
    else:
        environment = {key: filled(value) for key, value in entry.get("env", {}).items()}
        answer = ask_command([entry["command"], *entry.get("args", [])], environment, server)
    said = answer.get("result", {}).get("serverInfo", {}).get("name")
    if said != "rkllm-server":
        raise Wrong(f"{name} answers {answer}")


def filled(value):
    """Variables as the hosts write them: ${NAME}, ${env:NAME}, ${input:NAME}. All stand for the token."""
    return re.sub(r"\$\{[^}]+\}", TOKEN, value)


def ask_url(url, headers):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    request = urllib.request.Request(url, json.dumps(INITIALIZE).encode(), headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
        return json.load(response)


def ask_command(command, environment, server):
    host_environment = {key: value for key, value in server.environment.items() if key != "RKLLM_MCP_TOKEN"}
    process = subprocess.Popen(command, cwd=server.place, env={**host_environment, **environment}, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        print(json.dumps(INITIALIZE), file=process.stdin, flush=True)
        if not select.select([process.stdout], [], [], PATIENCE_S)[0]:
            raise Wrong(f"{shlex.join(command)} does not answer")
        line = process.stdout.readline()
        if not line:
            raise Wrong(f"{shlex.join(command)} has ended without an answer:\n{process.stderr.read()}")
        process.stdin.close()
        if process.wait(timeout=PATIENCE_S) != 0:
            raise Wrong(f"{shlex.join(command)} ended with {process.returncode}")
        return json.loads(line)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


# --- commands -------------------------------------------------------------------------------------------------------

def run_host_commands(snippet, server):
    """`HOST mcp add NAME ...`: what is added answers."""
    for command in commands_of(snippet.text):
        words = shlex.split(server.localized(command.text))
        if "--" in words:
            begin = words.index("--") + 1
            entry = {"command": words[begin], "args": words[begin + 1:]}
        else:
            entry = {"url": next(word for word in words if "://" in word)}
        check_server(words[3], entry, server)


def ask_host(snippet, server):
    """The same, said to the host itself, which then tells what it knows. Claude Code tells whether it has connected."""
    for command in commands_of(snippet.text):
        words = shlex.split(server.localized(command.text))
        host, name = require(words[0]), words[3]
        told([host, *words[1:]], server)
        known = told([host, "mcp", "get", name], server)
        if words[-1] not in known or (words[0] == "claude" and "Connected" not in known):
            raise Wrong(f"{words[0]} says of {name}:\n{known}")


def ask_codex_about_settings(snippet, server):
    """Codex has to know every member of the file."""
    folder = os.path.join(server.place, ".codex")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
        file.write(server.localized(snippet.text))
    for name, entry in servers_in(snippet, server).items():
        known = json.loads(told([require("codex"), "mcp", "get", name, "--json"], server))
        for key, value in entry.items():
            if value not in (known.get(key), known["transport"].get(key)):
                raise Wrong(f"codex does not know {key} of {name}:\n{known}")


def told(command, server):
    status, printed, said = execute(command, server)
    if status != 0:
        raise Wrong(f"{shlex.join(command)} ended with {status}:\n{printed}\n{said}")
    return printed
