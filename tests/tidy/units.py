"""What clang-tidy is to read: what the compiler is given that people have written, one path a line. What
includes headers that a build makes first is left out. With paths of files as arguments only what has one of them in it,
what has most of them first: a source, or a header's own source, or else the first source that includes it.

    units.py BUILD_FOLDER [FILE...]
"""
import json
import pathlib
import re
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sources_of(unit):
    """A unit of a unity build includes its sources."""
    if unit.suffix != ".cxx":
        return [unit]
    return [pathlib.Path(path) for path in re.findall(r'^#include "(/[^"]+\.cpp)"', unit.read_text(encoding="utf-8"), re.M)]


def has_all_folders(command):
    """False for what includes headers that a build has not made."""
    words = shlex.split(command)
    return all(pathlib.Path(word[2:]).exists() for word in words if word.startswith("-I"))


def is_written(source, build):
    """By people, that is: not by a build."""
    return source.is_relative_to(ROOT) and not source.is_relative_to(build)


def read_for(path, sources):
    """The source in which a changed file is read; none if nothing includes it."""
    if path.suffix == ".cpp":
        return path
    if path.with_suffix(".cpp") in sources:
        return path.with_suffix(".cpp")
    for source in sorted(sources):
        included = re.findall(r'^#include ["<]([^">]+)[">]', source.read_text(encoding="utf-8"), re.M)
        if any(str(path).endswith("/" + name) for name in included):
            return source
    return None


def main(build, *changed):
    build = pathlib.Path(build).resolve()
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    units = {pathlib.Path(command["file"]) for command in commands if has_all_folders(command["command"])}
    sources, seen = {}, set()
    for unit in sorted(unit for unit in units if unit.exists()):
        of_unit = {source for source in sources_of(unit) if is_written(source, build)}
        if not of_unit <= seen:  # what only includes a header is read elsewhere, what is compiled twice is read once
            sources[unit] = of_unit
            seen |= of_unit
    if changed:
        wanted = {read_for(ROOT / path, seen) for path in changed}
        found = {unit: len(wanted & of_unit) for unit, of_unit in sources.items()}
        sources = sorted((unit for unit in sources if found[unit] > 0), key=lambda unit: -found[unit])
    print("\n".join(str(unit) for unit in sources))


main(*sys.argv[1:])
