"""HTML as its elements, and what users may write into it."""

from html.parser import HTMLParser
from types import SimpleNamespace

HOSTILE_NAMES = (
    "<script>alert('x')</script>",
    '"><img src=x onerror=alert(1)>',
    'O\'Neil & "Sons"',
    "$x_1$",
    "  ",
    "é 漢字",
    "{{ 7 * 7 }}{% raw %}",
)
TITLE = '<b>Bold</b> & "quoted" </title><script>1</script>'
COMMAND = "bayesing report '<data>.csv'"


class Outline(HTMLParser):
    """Elements in their order, each with its attributes and the text inside; complains about bad nesting."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        element = SimpleNamespace(tag=tag, at=dict(attributes), text="", parents=[e.tag for e in self.open])
        self.elements.append(element)
        if tag not in self.VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, text):
        for element in self.open if self.open and self.open[-1].tag != "script" else self.open[-1:]:
            element.text += text

    def all(self, *tags):
        return [e for e in self.elements if e.tag in tags]


def text_of(html, tag="body"):
    """The text inside the first such element, with single spaces."""
    return " ".join(html.all(tag)[0].text.split())
