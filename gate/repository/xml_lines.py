"""XML whose elements know their lines; documents that declare entities are not read."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

_DEEPEST = 200


class Element(NamedTuple):
    """An element without its namespace: the text right inside it, stripped, and what stands below."""

    tag: str
    line: int
    attributes: dict[str, str]
    texts: list[str]
    children: "list[Element]"

    @property
    def text(self) -> str:
        """Return the text right inside it."""
        return "".join(self.texts).strip()

    def all(self, *path: str) -> "Iterator[Element]":
        """Yield the elements below it at a path of tags."""
        for child in self.children:
            if child.tag == path[0]:
                if len(path) == 1:
                    yield child
                else:
                    yield from child.all(*path[1:])

    def first(self, *path: str) -> "Element | None":
        """Return the first element at a path of tags."""
        return next(self.all(*path), None)

    def value(self, *path: str) -> str:
        """Return the text of the first element at a path of tags, empty where there is none."""
        found = self.first(*path)
        return found.text if found else ""


def read_xml(text: str) -> Element:
    """Return the root of a document. Raises ValueError."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    top = Element("", 1, {}, [], [])
    stack = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            raise ValueError("it is nested too deeply")
        tag = name.rpartition(" ")[2]
        made = Element(tag, parser.CurrentLineNumber, {k.rpartition(" ")[2]: v for k, v in attributes.items()}, [], [])
        stack[-1].children.append(made)
        stack.append(made)

    def end(_: str) -> None:
        stack.pop()

    def entity(*_: object) -> None:
        raise ValueError("it declares entities")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda data: stack[-1].texts.append(data)
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from error
    return top.children[0]
