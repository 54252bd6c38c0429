"""Links between the documents lead to files, and to headings, that there are; so do the folders that README.md lists."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")


def prose(path):
    """Its text without code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """Of its headings, as web servers of repositories make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def documents():
    for pattern in ("*.md", "docs/**/*.md", "*/README.md", "tests/**/README.md", "examples/**/README.md"):
        yield from (path for path in ROOT.glob(pattern) if "node_modules" not in path.parts and "build" not in path.parts)


class Links(unittest.TestCase):
    def test_lead_to_what_there_is(self):
        for path in sorted(set(documents())):
            for target, anchor in LINK.findall(prose(path)):
                if "://" in target or target.startswith("mailto:"):
                    continue
                there = (path.parent / target) if target else path
                with self.subTest(document=str(path.relative_to(ROOT)), link=target, anchor=anchor):
                    self.assertTrue(there.exists())
                    if anchor and there.suffix == ".md":
                        self.assertIn(anchor, anchors(there))

    def test_readme_lists_folders_that_there_are(self):
        table = re.search(r"^\| folder \| job \|\n(.*?)\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
        rows = table.group(1).splitlines()[1:]
        self.assertGreater(len(rows), 15)
        for row in rows:
            first, *others = re.findall(r"`([^`]*)`", row.split("|")[1])
            around = pathlib.Path(first).parent
            for folder in [first, *(around / other for other in others)]:
                with self.subTest(folder=str(folder)):
                    self.assertTrue((ROOT / folder).is_dir())


if __name__ == "__main__":
    unittest.main()
