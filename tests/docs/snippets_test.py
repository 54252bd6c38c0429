import unittest

from snippets import commands_of, snippets_of, unmarked_in

DOCUMENT = """Words.

<!-- tested Say it: model -->
```python
print(1)
```

```text
1
```

```python
print(2)
```
"""


class Snippets(unittest.TestCase):
    def test_a_marked_program_has_a_name_surroundings_and_an_output(self):
        (snippet,) = snippets_of("x.md", DOCUMENT)
        self.assertEqual((snippet.name, snippet.surroundings, snippet.text, snippet.output),
                         ("Say it", "model", "print(1)\n", "1\n"))

    def test_a_fence_without_a_mark_is_told_with_its_line(self):
        self.assertEqual(unmarked_in("x.md", DOCUMENT), [12])

    def test_a_program_without_an_output_is_refused(self):
        with self.assertRaises(ValueError):
            snippets_of("x.md", "<!-- tested A -->\n```python\n```\n")

    def test_a_mark_before_nothing_is_refused(self):
        with self.assertRaises(ValueError):
            snippets_of("x.md", "<!-- tested A -->\n\nWords.\n")

    def test_two_snippets_of_one_name_are_refused(self):
        with self.assertRaises(ValueError):
            snippets_of("x.md", "<!-- tested A -->\n```json\n```\n<!-- tested A -->\n```json\n```\n")

    def test_consoles_of_one_name_are_one(self):
        (snippet,) = snippets_of("x.md", "<!-- tested A -->\n```console\n$ a\n```\nWords.\n\n<!-- tested A -->\n```console\n$ b\n```\n")
        self.assertEqual(snippet.text, "$ a\n$ b\n")

    def test_a_command_goes_on_until_a_shell_would_run_it(self):
        commands = commands_of("$ echo 'a\nb' \\\n  c |\n    cat\na\nb c\n$ cat > x <<'END'\na\nEND\n$ true\n")
        self.assertEqual([(command.text, command.output) for command in commands],
                         [("echo 'a\nb' \\\n  c |\n    cat", "a\nb c"), ("cat > x <<'END'\na\nEND", ""), ("true", "")])


if __name__ == "__main__":
    unittest.main()
