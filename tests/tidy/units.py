"""What clang-tidy is to read: what the compiler is given of the product, one path a line. With paths of files as
arguments only what has one of them in it, what has most of them first: a source, or a header's own source, or else the
first source that includes it.

    units.py BUILD_FOLDER [FILE...]
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("runtime", "server", "generator", "simulator")


def sources_of(unit):
    """A unit of a unity build includes its sources."""
    if unit.suffix != ".cxx":
        return [unit]
    return [pathlib.Path(path) for path in re.findall(r'^#include "(/[^"]+\.cpp)"', unit.read_text(encoding="utf-8"), re.M)]


def read_for(path, sources):
    """The source in which a changed file is read; none if it is not of the product."""
    if path.suffix == ".cpp":
        return path
    if path.with_suffix(".cpp") in sources:
        return path.with_suffix(".cpp")
    includes = re.compile(rf'^#include ["<](?:[^">]*/)?{re.escape(path.name)}[">]', re.M)
    return next((source for source in sorted(sources) if includes.search(source.read_text(encoding="utf-8"))), None)


def main(build, *changed):
    build = pathlib.Path(build).resolve()
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    units = {pathlib.Path(command["file"]) for command in commands}
    of_product = [unit for unit in units
                  if any(unit.is_relative_to(base / folder) for base in (build, ROOT) for folder in FOLDERS)]
    sources = {unit: sources_of(unit) for unit in sorted(of_product) if unit.exists()}
    if changed:
        every = {source for contents in sources.values() for source in contents}
        wanted = {read_for(ROOT / path, every) for path in changed}
        found = {unit: len(wanted & set(contents)) for unit, contents in sources.items()}
        sources = sorted((unit for unit in sources if found[unit] > 0), key=lambda unit: -found[unit])
    print("\n".join(str(unit) for unit in sources))


main(*sys.argv[1:])
