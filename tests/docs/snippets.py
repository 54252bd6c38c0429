"""The snippets of a document that are marked to be run, each with the output that the document shows.

A mark is an HTML comment before a fence, `<!-- tested NAME -->` or `<!-- tested NAME: SURROUNDINGS -->`. A program is
followed by a fence of language `text`, its output; a console has commands (after `$ `) and their output in one fence.
Consoles of the same name that follow each other are one console.
"""
import dataclasses
import re
import subprocess

MARK = re.compile(r"<!-- tested (?P<name>[^:]+?)(?:: (?P<surroundings>\w+))? -->$")
FENCE = re.compile(r"(?P<indent> *)```(?P<language>\w*)$")
# What is worth running. Fences of other languages show what travels or what is printed.
RUNNABLE = ("console", "cpp", "go", "js", "json", "python", "toml", "yaml")


@dataclasses.dataclass(frozen=True)
class Snippet:
    document: str
    line: int
    name: str
    surroundings: str  # what it needs besides a server: "", "model", "tokens"; or "compiled": the build makes a program of it
    language: str
    text: str
    output: str  # that the document shows after it; of a console: nothing


@dataclasses.dataclass(frozen=True)
class Command:
    text: str
    output: str


def fences(document, text):
    """(line, mark before it or None, language, text) of each fence."""
    lines = text.splitlines()
    mark, at = None, 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            found = MARK.match(lines[at].strip())
            mark = found if found else mark if not lines[at].strip() else None
            at += 1
            continue
        begin = at + 1
        at = begin
        while at < len(lines) and lines[at] != fence["indent"] + "```":
            at += 1
        if at == len(lines):
            raise ValueError(f"{document}:{begin}: this fence has no end")
        body = [line[len(fence["indent"]):] for line in lines[begin:at]]
        yield begin, mark, fence["language"], "\n".join(body) + "\n"
        mark = None
        at += 1


def snippets_of(document, text):
    """Those that are marked. Raises ValueError for two of one name, and for a mark before nothing runnable."""
    all_fences = list(fences(document, text))
    found = []
    for place, (line, mark, language, body) in enumerate(all_fences):
        if mark is None:
            continue
        if language not in RUNNABLE:
            raise ValueError(f"{document}:{line}: nobody can run a snippet of language {language!r}")
        output = ""
        if language in ("cpp", "go", "js", "python") and mark["surroundings"] != "compiled":
            after = all_fences[place + 1:place + 2]
            if not after or after[0][2] != "text":
                raise ValueError(f"{document}:{line}: a fence of language text has to follow, with the output")
            output = after[0][3]
        snippet = Snippet(document, line, mark["name"], mark["surroundings"] or "", language, body, output)
        if found and language == "console" and found[-1].name == snippet.name and found[-1].language == language:
            found[-1] = dataclasses.replace(found[-1], text=found[-1].text + body)
        else:
            found.append(snippet)
    names = [snippet.name for snippet in found]
    if len(set(names)) < len(names):
        raise ValueError(f"{document}: two snippets have the same name")
    if sum(mark is not None for _, mark, _, _ in all_fences) < text.count("<!-- tested "):
        raise ValueError(f"{document}: a mark stands before no snippet")
    return found


def unmarked_in(document, text):
    """Lines of the fences that look runnable and are not marked."""
    return [line for line, mark, language, _ in fences(document, text) if mark is None and language in RUNNABLE]


def commands_of(console):
    """A console's commands with their output. A command goes on for as long as a shell would ask for more."""
    commands, lines = [], console.splitlines()
    while lines:
        if not lines[0].startswith("$ "):
            raise ValueError(f"output without a command: {lines[0]}")
        command = lines.pop(0)[2:]
        while not is_complete(command):
            if not lines:
                raise ValueError(f"this command has no end: {command}")
            command += "\n" + lines.pop(0)
        output = []
        while lines and not lines[0].startswith("$ "):
            output.append(lines.pop(0))
        commands.append(Command(command, "\n".join(output)))
    return commands


def is_complete(command):
    if command.endswith("\\"):
        return False
    checked = subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True)
    return checked.returncode == 0 and not checked.stderr  # of a here-document without its end it only warns
