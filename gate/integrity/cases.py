"""The tests that a file defines: their names, where they begin, and how much in them can fail. Text in, data out."""

import re
from typing import NamedTuple

from gate.integrity.python_cases import Case
from gate.integrity.python_cases import cases as python_cases
from gate.integrity.reach import reached
from gate.patterns import later, sub_closed

IS_TEST = later(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|cypress)/|(?:^|/)(?:test_[^/]*|[^/]*_test|tests|conftest)\.py$"
    r"|\.(?:test|spec|cy)\.[cm]?[jt]sx?$|_test\.(?:go|dart|exs)$|(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|php|swift)$"
    r"|_spec\.rb$|_test\.rb$|\.rs$|(?:^|/)CMakeLists\.txt$"
)
# which file of a language its runner takes for tests by its name; other languages go by what stands in the file
COLLECTED = {
    "py": later(r"(?:^|/)(?:test[^/]*|[^/]*_test|tests)\.py$"),
    **dict.fromkeys(
        ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"),
        later(r"\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?|e2e|spec)/|(?:^|/)test[^/]*$"),
    ),
}


class Language(NamedTuple):
    """How a test begins (its last group is the name), how an assertion looks, and how one that always holds."""

    begins: re.Pattern[str]
    asserts: re.Pattern[str]
    vacuous: re.Pattern[str] = later(r"(?!)")
    comments: str = r"//[^\n]*|/\*[\s\S]*?\*/"
    leaves: re.Pattern[str] = later(r"(?!)")  # where no braces tell what a return ends
    lifetimes: bool = False  # a single quote opens no string


_CONSTANT = r"""(?:!*(?:true|false|null|undefined|-?\d+(?:\.\d+)?)|['"`][^'"`]*['"`]|\[\s*\]|\{\s*\})"""
_TABLE = r"(?:each|concurrent|sequential)"
_MORE = rf"(?<![\w.])(?:it|test)\.{_TABLE}"  # what is never closed ends where the next one begins
_OR_TRUE = r"\(\s*(?:true|1)\s*\|\||\([^;\n]{0,300}\|\|\s*(?:true|1)\s*\)(?!\s*\))"
_JS = Language(
    later(
        rf"""(?<![\w.])(?:it|test)(?:\.{_TABLE}(?:(?!{_MORE})[^(])*+(?:\((?:(?!{_MORE})[^)])*+\))?)?\s*\(\s*(['"`])(.*?)\1"""
    ),
    later(
        r"\bexpect(?:\.soft|\.poll)?\s*\(|\bassert\b|\bshould\b|\.rejects\b|\bt\.(?:is|deepEqual|true|throws|snapshot)"
    ),
    later(
        rf"\bexpect\(\s*{_CONSTANT}\s*\)(?:\.not)?\.to\w+\(\s*(?:{_CONSTANT}\s*)?\)|\bexpect\(([^;\n]{{1,300}})\)\.to(?:Be|Equal|StrictEqual)\(\1\)"
        rf"|\b(?:expect|assert(?:\.ok)?)(?:{_OR_TRUE})|\bexpect\([^()\n]{{0,200}}(?:\([^()\n]{{0,200}}\)[^()\n]{{0,200}}){{0,9}}\)(?=[ \t]*(?:[;}}\n]|$))(?!\s*\.)"
        rf"|\bassert(?:\.ok)?\(\s*(?:true|1)\s*\)|\bassert\.\w+\(\s*{_CONSTANT}\s*,\s*{_CONSTANT}\s*\)|\bassert\.\w*[eE]qual\(([^,;\n]{{1,200}}),\s*\2\)"
        r"|\bexpect\([^;\n]{0,300}\)\.to\w+\(\s*expect\.anything\(\s*\)\s*\)"
    ),
)
_CS = r"\[(?:Fact|Theory|Test|TestMethod|TestCase)\b"
_C_LIKE = r"//[^\n]*|/\*[\s\S]*?\*/"
_HASH = r"#(?!\[)[^\n]*"
LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"), _JS),
    "go": Language(
        later(r"^func ()((?:Test|Fuzz|Example)\w*)\(", re.M), later(r"\bt\.(?:Error|Fatal|Fail)|assert\.|require\.|// Output:")
    ),
    "rs": Language(
        later(r"#\[(?:\w+::)?()test\b(?:[^\]#]|#(?!\[))*+\][\s\S]{0,200}?fn (\w+)"), later(r"\bassert|panic!|\?;|\.unwrap\(|\.expect\("),
        later(rf"\bassert!\(\s*true\s*\)|\bassert!(?:{_OR_TRUE})|\bassert_(?:eq|ne)!\(\s*\d+\s*,\s*\d+\s*\)|\bassert_eq!\(([^,;\n]{{1,200}}),\s*\1\)"), lifetimes=True,
    ),
    **dict.fromkeys(
        ("java", "kt", "scala"),
        Language(
            later(r"@()(?:Parameterized)?Test\b[\s\S]{0,300}?(?:void|fun)\s+(`[^`]+`|\w+)"), later(r"\bassert|\bverify\(|\bexpect"),
            later(rf"\bassertTrue\(\s*true\s*\)|\bassert(?:True|That)?(?:{_OR_TRUE})"),
        ),
    ),
    "cs": Language(
        later(rf"{_CS}(?:(?!{_CS})[\s\S]){{0,300}}?\b(\w+)\s*\((?:(?!{_CS})[^\n])*?\)\s*(?:=>|\{{|\n)"),
        later(r"\bAssert\.|\bShould"), later(rf"\bAssert\.(?:Is)?True\(\s*true\s*\)|\bAssert\.(?:Is)?True(?:{_OR_TRUE})"),
    ),
    "rb": Language(
        later(r"^[ \t]*(?:it|test|specify)\s+(['\"])(.*?)\1|^[ \t]*def ()(test_\w+)", re.M), later(r"\bexpect|\bassert|\bshould"),
        later(r"^(?>[^\n]*?\b(?:expect|assert)\b)[^\n]*\bif (?:false|nil)\b", re.M), comments=_HASH, leaves=later(r"^([ \t]*)(?:return|next)[ \t]*$", re.M),
    ),
    "php": Language(
        later(r"function ()(test\w+)\s*\(|#\[Test\][\s\S]{0,200}?function ()(\w+)"), later(r"->assert|::assert|->expect|\bexpect"),
        later(rf"assertTrue\(\s*true\s*\)|\bassertTrue(?:{_OR_TRUE})"), comments=rf"{_C_LIKE}|{_HASH}",
    ),
    "txt": Language(later(r"\b(?:add_test|gtest_discover_tests|catch_discover_tests)\s*\(\s*(?:NAME\s+)?()([\w.-]+)"), later(""), comments=_HASH),
}  # fmt: skip
# a quote behind a backslash opens nothing
_STRINGS = r"""("(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+'|`(?:\\.|[^`\\])*+`|\\[\\"'`])"""
_DOUBLE = r"""("(?:\\.|[^"\\])*+"|\\[\\"])"""


def cases(path: str, text: str | None) -> list[Case]:
    """Return the tests that a file defines; none where the language is not known."""
    if text is None:
        return []
    ending = path.rpartition(".")[2]
    if ending == "py":
        return python_cases(text)
    language = LANGUAGES.get(ending)
    if language is None or (ending == "txt" and not path.endswith("CMakeLists.txt")):
        return []
    text = without_comments(language, text)
    runs = text if ending in ("rb", "txt") else reached(without_words(language, text))
    found = [match for match in language.begins.finditer(text) if not runs[match.start() : match.end()].isspace()]
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        Case(
            next((g for g in reversed(match.groups()) if g), "?"),
            _asserts(language, runs[match.end() : end]),
            text.count("\n", 0, match.start()) + 1,
        )
        for match, end in zip(found, ends, strict=False)
    ]


def without_comments(language: Language, text: str) -> str:
    """Return text in which comments are blank; lines keep their numbers."""

    def blank(match: re.Match[str]) -> str:
        return match[1] or "\n" * match[0].count("\n")

    keeps_output = language.comments == _C_LIKE and "// Output:" in text  # of an example in Go: what it has to print
    return text if keeps_output else sub_closed(rf"{_STRINGS}|{language.comments}", blank, text)


def without_words(language: Language, text: str) -> str:
    """Return text in which strings hold neither words of the language nor brackets; two that differ still do."""

    def changed(match: re.Match[str]) -> str:
        return match[0][0] + re.sub(r"[^\w\n]", "_", match[0][1:-1]).swapcase() + match[0][-1]

    keeps_output = language.comments == _C_LIKE and "// Output:" in text
    return text if keeps_output else re.sub(_DOUBLE if language.lifetimes else _STRINGS, changed, text)


def _asserts(language: Language, body: str) -> int:
    """Return how many assertions can fail; in Ruby none is reached behind a bare `return` that stands no deeper."""
    leaves = language.leaves.search(body)
    first = language.asserts.search(body)
    if leaves and first and leaves.start() < first.start():
        indent = body[body.rfind("\n", 0, first.start()) + 1 :]
        if len(leaves[1]) <= len(indent) - len(indent.lstrip()):
            return 0
    if not language.asserts.pattern:
        return 1
    return max(0, len(language.asserts.findall(body)) - len(language.vacuous.findall(body)))
