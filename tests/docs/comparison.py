"""What a snippet printed, compared with what the document shows.

Figures of time and memory, ids that nobody can foresee, dates and versions may differ. Tokens may come in one message
or in several. `…` in the document stands for anything within its line. Everything else must be equal.
"""
import json
import re
import typing

MASKS = (
    (re.compile(r'"(\w+_ms|memory_usage_mb|uptime_s)":-?[0-9.e+-]+'), r'"\1":#'),
    (re.compile(r"\b(?=[a-z]*[0-9])[a-z0-9]{24}\b"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "<date>"),
    (re.compile(r'"version":"\d+\.\d+\.\d+"'), '"version":"#"'),
)


def difference(shown, printed):
    """Why the two differ; None if they do not."""
    wanted, found = settled(shown), settled(printed)
    for number, (want, have) in enumerate(zip(wanted, found)):
        pattern = ".*".join(re.escape(part) for part in want.split("…"))
        if not re.fullmatch(pattern, have):
            return f"line {number + 1} should be\n  {want}\nand is\n  {have}"
    if len(wanted) != len(found):
        missing, more = wanted[len(found):], found[len(wanted):]
        return "these lines are missing:\n  " + "\n  ".join(missing) if missing else \
               "these lines are too many:\n  " + "\n  ".join(more)
    return None


def settled(text):
    """The lines of the text, without what may differ."""
    lines, last = [], None
    for line in text.splitlines():
        if line in ("", "event: message"):
            continue
        for pattern, mask in MASKS:
            line = pattern.sub(mask, line)
        tokens = tokens_in(line)
        if tokens is None:
            lines.append(line)
            last = None
            continue
        if last and last.stream == tokens.stream:
            tokens.holder[tokens.key] = last.holder[last.key] + tokens.holder[tokens.key]
            lines.pop()
        lines.append(json.dumps(tokens.message, ensure_ascii=False, separators=(",", ":")))
        last = tokens
    return lines


class Tokens(typing.NamedTuple):
    stream: tuple  # whose they are
    message: dict
    holder: dict  # the object in the message that holds the text
    key: str  # of the text


def tokens_in(line):
    """Of a message that brings tokens, with its counter taken away; None for any other line."""
    try:
        message = json.loads(line.removeprefix("data: ").replace(":#", ':"#"'))
    except json.JSONDecodeError:
        return None
    if not isinstance(message, dict):
        return None
    if message.get("method") == "notifications/progress" and "message" in message["params"]:
        params = message["params"]
        params["progress"] = "#"
        return Tokens(("progress", params["progressToken"]), message, params, "message")
    result = message.get("result")
    if isinstance(result, dict) and isinstance(result.get("chunk"), dict):
        result["chunk"]["seq"] = "#"
        return Tokens(("chunk", message.get("id")), message, result["chunk"], "delta")
    return None
