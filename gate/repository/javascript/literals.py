"""Read what a JavaScript or TypeScript module exports, as far as it is written as plain values; nothing of it runs.

Objects, lists, strings, and names that stand for them in the same file or in one that it imports are followed. What is
computed is an `Unknown`, so that a rule can be quiet where it cannot know.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gate.repository.javascript.tokens import tokens_of
from gate.repository.javascript.values import Listed, Pattern, Table, Unknown, is_here, member, merge, plain, string

_WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_ENDS = {",", ")", "]", "}", ";"}
# wrappers that hand on what they are given, or merge it
_SAME = {"defineConfig", "defineProject", "defineWorkspace", "config", "createJestConfig", "createConfig", "freeze"}
_MERGES = {"mergeConfig", "assign", "merge", "deepmerge", "defaultsDeep"}
_JOINS = {"join", "resolve"}
_MOST = 300_000  # characters of a module that is read
_DEEPEST = 40


Importer = Callable[[str, str], Any]  # what a module of this name exports under a name; "default" and "*" too


def read_module(text: str, imported: Importer) -> Mapping[str, Any]:
    """Return what a module exports, by name; `default` is also what `module.exports` is set to."""
    reader = _Reader(text[:_MOST], imported)
    reader.statements()
    return reader.exports


class _Reader:
    def __init__(self, text: str, imported: Importer) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.imported = imported
        self.exports: dict[str, Any] = {}
        self.close = self._pairs()

    def _pairs(self) -> dict[int, int]:
        pairs, open_ = dict[int, int](), list[int]()
        for i, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in _CLOSES:
                open_.append(i)
            elif token.kind == "sign" and token.text in ")]}" and open_:
                pairs[open_.pop()] = i
        return pairs

    def _at(self, i: int) -> str:
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def _next(self, i: int) -> int:
        """Return the place behind a token, with all that its bracket holds."""
        return self.close.get(i, i) + 1

    def statements(self) -> None:
        """Read the declarations and exports at the top of a module."""
        scope = dict[str, Any]()
        self._block(0, len(self.tokens), scope, 0)

    def _block(self, i: int, end: int, scope: dict[str, Any], depth: int) -> Any:
        """Read statements up to a place; return what the last `return` gives, None without any."""
        returned: Any = None
        while i < end:
            word = self._at(i)
            if word in ("const", "let", "var"):
                i = self._declared(i + 1, scope, depth, exported=self._at(i - 1) == "export")
            elif word == "import" and self._at(i + 1) not in "(.":
                i = self._import(i + 1, scope)
            elif word == "export" and self._at(i + 1) == "default":
                self.exports["default"], i = self.value(i + 2, scope, depth)
            elif word in ("module", "exports") and self._assigns(i):
                i = self._exported(i, scope, depth)
            elif word == "return":
                returned, i = self.value(i + 1, scope, depth)
            elif word == "function" and self.tokens[i + 1 : i + 2] and self.tokens[i + 1].kind == "name":
                scope[self._at(i + 1)], i = self.value(i, scope, depth)
            else:
                i = self._next(i)
        return returned

    def _declared(self, i: int, scope: dict[str, Any], depth: int, *, exported: bool) -> int:
        if self._at(i) == "{":  # const { a, b: c } = require("x")
            names, i = self._names(i)
            if self._at(i) != "=":
                return i
            value, i = self.value(i + 1, scope, depth)
            for theirs, ours in names.items():
                scope[ours] = member(value, theirs)
            return i
        name = self._at(i)
        i += 1
        if self._at(i) == ":":  # a type
            while i < len(self.tokens) and self._at(i) not in ("=", ";"):
                i = self._next(i)
        if self._at(i) != "=":
            return i
        scope[name], i = self.value(i + 1, scope, depth)
        if exported:
            self.exports[name] = scope[name]
        return i

    def _names(self, i: int) -> tuple[dict[str, str], int]:
        """Return the names of `{ a, b as c, d: e }` at a place, and the place behind it."""
        end = self.close.get(i, len(self.tokens))
        words = [t.text for t in self.tokens[i + 1 : end]]
        names = dict[str, str]()
        for number, word in enumerate(words):
            if number == 0 or words[number - 1] == ",":
                renamed = words[number + 1 : number + 2] in (["as"], [":"]) and number + 2 < len(words)
                names[word] = words[number + 2] if renamed else word
        return names, end + 1

    def _import(self, i: int, scope: dict[str, Any]) -> int:
        names, first = dict[str, str](), i
        while i < len(self.tokens) and self.tokens[i].kind != "string" and self._at(i) != ";":
            if self._at(i) == "{":
                more, i = self._names(i)
                names |= more
                continue
            if self._at(i) == "*" and self._at(i + 1) == "as":
                names["*"], i = self._at(i + 2), i + 3
                continue
            if self.tokens[i].kind == "name" and self._at(i) not in ("from", "type"):
                names["default"] = self._at(i)
            i += 1
        if i >= len(self.tokens) or self.tokens[i].kind != "string":
            return max(i, first + 1)
        for theirs, ours in names.items():
            scope[ours] = self.imported(string(self._at(i)), theirs)
        return i + 1

    def _assigns(self, i: int) -> bool:
        return "=" in (self._at(i + 1), self._at(i + 3), self._at(i + 5)) and self._at(i + 1) in (".", "=")

    def _exported(self, i: int, scope: dict[str, Any], depth: int) -> int:
        path = list[str]()
        while i < len(self.tokens) and self._at(i) != "=":
            path.append(self._at(i))
            i = self._next(i)
        value, i = self.value(i + 1, scope, depth)
        names = [p for p in path if p not in (".", "module", "exports")]
        if not names:
            self.exports["default"] = value
        elif len(names) == 1:
            target = self.exports.setdefault("default", Table()) if names[0] != "default" else None
            if isinstance(target, Table):
                target[names[0]] = value
            self.exports[names[0]] = value
        return i

    def value(self, i: int, scope: Mapping[str, Any], depth: int) -> tuple[Any, int]:
        """Return the value at a place and the place behind it; all of an expression that is no literal is an Unknown."""
        first = i
        value, i = self._primary(i, scope, depth + 1) if depth < _DEEPEST else (None, i)
        if depth >= _DEEPEST or not self._is_end(i, first):
            if self._at(i) in ("as", "satisfies") and depth < _DEEPEST:
                return value, self._skip(i)
            end = self._skip(max(i, first))
            inside = (value,) if isinstance(value, Table | Listed) else getattr(value, "inside", ())
            return Unknown(self._between(first, end), inside), end
        return value, i

    def _is_end(self, i: int, first: int) -> bool:
        if i >= len(self.tokens) or self._at(i) in _ENDS:
            return True
        token = self.tokens[i]  # without a semicolon a name on the next line begins the next statement
        return (
            i > first
            and token.kind == "name"
            and token.line > self.tokens[i - 1].line
            and token.text not in ("as", "satisfies")
        )

    def _skip(self, i: int) -> int:
        while i < len(self.tokens) and self._at(i) not in _ENDS:
            i = self._next(i)
        return i

    def _between(self, first: int, end: int) -> str:
        tokens = self.tokens[first:end]
        return self.text[tokens[0].start : tokens[-1].end] if tokens else ""

    def _primary(self, i: int, scope: Mapping[str, Any], depth: int) -> tuple[Any, int]:
        if i >= len(self.tokens):
            return Unknown(""), i
        kind, text = self.tokens[i].kind, self.tokens[i].text
        if kind in ("string", "regex", "number"):
            return plain(kind, text), i + 1
        if text == "[":
            return self._list(i, scope, depth)
        if text == "{":
            return self._table(i, scope, depth)
        if text == "(" and self._at(self._next(i)) != "=>":
            value, _ = self.value(i + 1, scope, depth)
            return self._behind(value, self._next(i), scope, depth)
        if text == "-" and self.tokens[i + 1 : i + 2] and self.tokens[i + 1].kind == "number":
            value = plain("number", self._at(i + 1))
            return (-value if isinstance(value, float) else value), i + 2
        if text in ("async", "await", "function", "("):
            return self._function(i, scope, depth)
        if kind == "name":
            return self._name(i, scope, depth)
        return Unknown(text), i + 1 if text not in _ENDS else i

    def _list(self, i: int, scope: Mapping[str, Any], depth: int) -> tuple[Any, int]:
        end = self.close.get(i, len(self.tokens))
        return self._behind(self._items(i + 1, end, scope, depth), end + 1, scope, depth)

    def _items(self, i: int, end: int, scope: Mapping[str, Any], depth: int) -> Listed:
        """Return what stands between two brackets with commas between: elements or arguments."""
        found = Listed()
        while i < end:
            if self._at(i) in _ENDS:
                i += 1
                continue
            spread = self._at(i) == "..."
            value, i = self.value(i + spread, scope, depth)
            if not spread:
                found.append(value)
            elif isinstance(value, list):
                found.extend(value)
                found.whole = found.whole and getattr(value, "whole", True)
            else:
                found.append(value if isinstance(value, Unknown) else Unknown("..."))
                found.whole = False
        return found

    def _table(self, i: int, scope: Mapping[str, Any], depth: int) -> tuple[Any, int]:
        end, found = self.close.get(i, len(self.tokens)), Table()
        i += 1
        while i < end:
            token = self.tokens[i]
            if token.text in _ENDS:
                i += 1
            elif token.text == "...":
                value, i = self.value(i + 1, scope, depth)
                found.take(value)
            elif token.text == "[":
                found.whole, i = False, self._skip(i)
            else:
                key = string(token.text) if token.kind == "string" else token.text
                found.lines[key] = token.line
                behind = self._at(i + 1)
                if behind == ":":
                    found[key], i = self.value(i + 2, scope, depth)
                elif behind in _ENDS:
                    found[key], i = scope.get(key, Unknown(key)), i + 1
                elif behind == "(":  # a method
                    body = self._next(i + 1)
                    found[key], i = Unknown(key), self._next(body)
                else:
                    i = self._skip(i + 1)
        return found, end + 1

    def _function(self, i: int, scope: Mapping[str, Any], depth: int) -> tuple[Any, int]:
        """Return what a function gives back: the object behind `=>`, or that of its last `return`."""
        first = i
        if self._at(i) == "await":
            return self._primary(i + 1, scope, depth)
        i += self._at(i) == "async"
        if self._at(i) == "function":
            i += 1
            i += self._at(i) == "*"
            i += self.tokens[i : i + 1] != [] and self.tokens[i].kind == "name"
            i = self._next(i)
        elif self._at(i) == "(" or self._at(i + 1) == "=>":
            i = self._next(i)
            if self._at(i) == ":":  # a type
                while i < len(self.tokens) and self._at(i) != "=>":
                    i = self._next(i)
            if self._at(i) != "=>":
                return Unknown(self._between(first, i)), i
            i += 1
            if self._at(i) != "{":
                return self.value(i, scope, depth)
        else:
            return Unknown(self._at(first)), i + 1
        while i < len(self.tokens) and self._at(i) != "{" and self._at(i) not in _ENDS:
            i = self._next(i)
        end = self.close.get(i)
        if self._at(i) != "{" or end is None:
            return Unknown(self._between(first, i)), i
        value = self._block(i + 1, end, dict(scope), depth)
        return (Unknown("function") if value is None else value), end + 1

    def _name(self, i: int, scope: Mapping[str, Any], depth: int) -> tuple[Any, int]:
        name = self._at(i)
        if self._at(i + 1) == "=>":
            return self._function(i, scope, depth)
        if name in _WORDS:
            return _WORDS[name], i + 1
        if name == "new":
            pattern = self._at(i + 1) == "RegExp" and self.tokens[i + 3 : i + 4]
            if pattern and pattern[0].kind == "string":
                return Pattern(string(pattern[0].text)), self._next(i + 2)
            return Unknown("new"), i + 1
        value = scope.get(name, Unknown(name))
        return self._behind(value, i + 1, scope, depth, name)

    def _behind(self, value: Any, i: int, scope: Mapping[str, Any], depth: int, name: str = "") -> tuple[Any, int]:
        """Follow `.member` and `(arguments)` behind a value."""
        first = i
        for _ in range(_DEEPEST):
            sign = self._at(i)
            if sign in (".", "?.") and self.tokens[i + 1 : i + 2] and self.tokens[i + 1].kind == "name":
                name = self._at(i + 1)
                value, i = member(value, name), i + 2
            elif sign == "!" and self._at(i + 1) in _ENDS:
                i += 1
            elif sign == "(" and self.tokens[i].line == self.tokens[i - 1].line:
                end = self.close.get(i, len(self.tokens))
                value, i = self._called(value, name, self._items(i + 1, end, scope, depth)), end + 1
            else:
                return value, i
        return Unknown(self._between(first, i)), i

    def _called(self, value: Any, name: str, given: Listed) -> Any:
        if name == "require" and given and isinstance(given[0], str):
            return self.imported(given[0], "*")
        if name in _JOINS and given and all(isinstance(g, str) or is_here(g) for g in given):
            return "/".join("." if is_here(g) else g for g in given)
        if name in _SAME and given:
            return given[0] if len(given) == 1 else given
        if name in _MERGES and given and all(isinstance(g, dict | Unknown) for g in given):
            merged = Table()
            for table in given:
                merge(merged, table)
            return merged
        if isinstance(value, Table | Listed) and not given and name not in ("concat", "filter", "map"):
            return value  # a function of this file that gives it back
        if name == "concat" and isinstance(value, Listed):
            return Unknown("concat", (value, *given))
        return Unknown(f"{getattr(value, 'text', name)}()", tuple(given))
