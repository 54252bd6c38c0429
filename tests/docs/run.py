#!/usr/bin/env python3
"""Runs the snippets of the documentation.

    run.py ROOT list DOCUMENT...                  the tests that there are, one `DOCUMENT|TEST|WANTS` in a line; WANTS is
                                                  "packages" if the test takes some from npm
    run.py ROOT text DOCUMENT TEST                the snippet itself
    run.py ROOT marks DOCUMENT...                 fails if a snippet that looks runnable is not marked
    run.py ROOT run DOCUMENT TEST PROGRAM [--packages FOLDER] [--compiler CXX]

Exit code 77: this machine lacks what the snippet takes; the reason is printed.
"""
import argparse
import os
import re
import sys

import hosts
import runners
from server import Server
from snippets import snippets_of, unmarked_in

# Of a snippet there can be a second test: that the host itself takes it.
BY_HOST = " (by the host)"
HOSTS = ("claude", "codex")


def host_of(snippet):
    """The host whose commands these are; None if it is none."""
    words = snippet.text.split()
    return words[1] if snippet.language == "console" and words[1] in HOSTS else None


def tests_of(snippet):
    if snippet.surroundings == "compiled":
        return
    yield snippet.name
    if host_of(snippet) or (snippet.language == "toml" and "mcp_servers" in snippet.text):
        yield snippet.name + BY_HOST


def takes_packages(snippet):
    return snippet.language == "js" and re.search(r" from '(?!node:|\.)", snippet.text) is not None


def run(snippet, by_host, server, compiler):
    if snippet.language == "toml" and by_host:
        hosts.ask_codex_about_settings(snippet, server)
    elif snippet.language in ("json", "toml", "yaml"):
        hosts.run_settings(snippet, server)
    elif host_of(snippet):
        (hosts.ask_host if by_host else hosts.run_host_commands)(snippet, server)
    elif snippet.language == "console":
        runners.run_console(snippet, server)
    else:
        runners.run_program(snippet, server, compiler)


def read(root, document):
    with open(os.path.join(root, document), encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("list", "marks"):
        actions.add_parser(action).add_argument("documents", nargs="+")
    text, one = actions.add_parser("text"), actions.add_parser("run")
    for action in (text, one):
        action.add_argument("document")
        action.add_argument("test")
    one.add_argument("program")
    one.add_argument("--packages", help="below the folder that has node_modules")
    one.add_argument("--compiler", default="c++")
    arguments = parser.parse_args()
    root = os.path.abspath(arguments.root)

    if arguments.action == "list":
        for document in arguments.documents:
            for snippet in snippets_of(document, read(root, document)):
                for test in tests_of(snippet):
                    print(f"{document}|{test}|{'packages' if takes_packages(snippet) else ''}")
        return 0
    if arguments.action == "marks":
        wrong = [f"{document}:{line}: this snippet has no mark, so nobody runs it"
                 for document in arguments.documents for line in unmarked_in(document, read(root, document))]
        print("\n".join(wrong))
        return 1 if wrong else 0

    name = arguments.test.removesuffix(BY_HOST)
    snippet = next(each for each in snippets_of(arguments.document, read(root, arguments.document)) if each.name == name)
    if arguments.action == "text":
        print(snippet.text, end="")
        return 0
    try:
        with Server(root, os.path.abspath(arguments.program), snippet.surroundings, arguments.packages) as server:
            run(snippet, arguments.test.endswith(BY_HOST), server, arguments.compiler)
    except runners.NotHere as lack:
        print(f"NOT RUN: {arguments.document}:{snippet.line}: {arguments.test}: {lack}")
        return 77
    except runners.Wrong as complaint:
        print(f"{arguments.document}:{snippet.line}: {arguments.test}: {complaint}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
