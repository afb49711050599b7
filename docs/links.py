"""Check the links of the built site, and of the Markdown files beside it, without a network.

    python docs/links.py docs/_build/html README.md CONTRIBUTING.md

Every relative link must lead to a file that exists and, after a #, to an id in it. Links to elsewhere are checked in
their form and listed; ``make linkcheck`` follows them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_TARGETS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}
_ELSEWHERE = re.compile(r"https?://[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?([/?#]\S*)?", re.IGNORECASE)


class Page(HTMLParser):
    """The links and the ids of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what matters of a tag."""
        values = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := values.get(name))}
        if link := values.get(_TARGETS.get(tag, "")):
            self.links.append(link)


class Markdown:
    """The links of a Markdown file, the files it names as docs/..., and the ids that GitHub gives its headings."""

    def __init__(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        self.links = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(
            r"`((?:docs|examples)/[^`\s]*)`", prose
        )
        titles = re.findall(r"^#+ (.*)$", prose, flags=re.MULTILINE)
        self.ids = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@cache
def read(path: Path) -> Page | Markdown:
    """A page, parsed once."""
    return Page(path) if path.suffix == ".html" else Markdown(path)


def faults_of(path: Path, elsewhere: set[str]) -> Iterator[str]:
    """What is wrong with the links of one page; those to elsewhere are added to the set."""
    for link in read(path).links:
        parts = urlsplit(link)
        if parts.scheme == "mailto" or link.startswith("data:"):
            continue
        if parts.scheme or parts.netloc:
            elsewhere.add(link)
            if not _ELSEWHERE.fullmatch(link):
                yield f"{path}: {link} is not the address of a page"
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
        if not target.exists():
            yield f"{path}: {link} leads to no file"
        elif parts.fragment and unquote(parts.fragment) not in read(target).ids:
            yield f"{path}: {link} leads to a page without that anchor"


def main(arguments: list[str]) -> int:
    """Check the pages below the folders and the files that are given."""
    pages = [page for name in arguments for page in sorted(Path(name).rglob("*.html")) or [Path(name)]]
    elsewhere: set[str] = set()
    faults = [fault for page in pages for fault in faults_of(page, elsewhere)]
    for line in faults:
        print(line, file=sys.stderr)
    number = sum(len(read(page).links) for page in pages)
    print(f"{number} links on {len(pages)} pages, {len(faults)} of them broken; to elsewhere, not followed:")
    for link in sorted(elsewhere):
        print(f"  {link}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
