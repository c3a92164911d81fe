"""Which files of JavaScript and TypeScript hold tests, and whose: told by what they import and call, not by their names."""

from collections.abc import Mapping

from gate.patterns import later
from gate.repository.javascript.tokens import IMPORT
from gate.repository.tree import Tree

SUFFIXES = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
ANY = "any"  # calls `describe` and `it` without saying whose they are
_CALL = later(
    r"(?:^|;[ \t]*)(?:describe|it|test|suite|context|specify)(?:\.(?:only|skip|concurrent|sequential|serial|parallel|each|for|describe))*\s*"
    r"""(?:\(\s*['"`]|\(\s*$|\(\s*[\[{]|`|\(\s*\w+\.name\b)""",
    8,  # re.MULTILINE
)
_OWN = later(
    r"""\b(?:import|const|let|var)\s*\{(?=[^{}]*?\b(?:test|it|describe)\b)[^{}]*+\}\s*(?:=\s*require\(|from)\s*['"][.@~#/]"""
    r"|\b(?:const|let|var|function)\s+(?:test|it|describe)\b|\bimport\s+(?:test|it|describe)\b"
)
_ASSERTS = later(r"\b(?:expect|assert|should)\b")
_COMMENTS = later(r"/\*[\s\S]*?(?:\*/|\Z)|`(?:\\[\s\S]|[^`\\])*+\\?(?:`|\Z)")
_FAMILIES = {
    "vitest": "vitest", "@jest/globals": "jest", "node:test": "node", "test": "node", "@playwright/test": "playwright",
    "playwright/test": "playwright", "bun:test": "bun", "mocha": "mocha",
}  # fmt: skip
_OTHERS = {
    "ava", "tape", "tap", "uvu", "qunit", "protractor", "detox", "cypress", "testcafe", "nightwatch", "webdriverio", "lab",
    "jasmine", "zora", "brittle", "@hapi/lab", "@wdio/globals", "@japa/runner", "@open-wc/testing", "supertape", "vite-plus",
    "@ember/test-helpers", "ember-qunit", "rstest", "@rstest/core", "@stencil/core/testing", "@angular/core/testing", "riteway",
    "puppeteer", "tinyspy/test", "@cucumber/cucumber", "k6", "@fast-check/ava", "@fast-check/vitest", "@playwright/experimental-ct-react",
}  # fmt: skip


def test_files(tree: Tree) -> Mapping[str, str]:
    """Return the files that hold tests with their runner: its name, or ANY; those of rare runners are left out."""
    return tree.once("tests of JavaScript", lambda: {p: f for p in tree.sources(*SUFFIXES) if (f := _family(tree, p))})


def _family(tree: Tree, path: str) -> str:
    text = tree.text(path) or ""
    if (
        not any(word in text for word in ("describe", "it(", "test(", "suite(", "it.", "test.", "it`"))
        or "-d.ts" in path
    ):
        return ""
    if path.endswith(".d.ts") or "import.meta.vitest" in text or "Deno.test" in text or "cy." in text:
        return ""
    plain = _COMMENTS.sub(lambda m: "\n" * m[0].count("\n"), text) if "`" in text or "/*" in text else text
    if not _CALL.search(plain):
        return ""
    imported = [m[1] for m in IMPORT.finditer(plain)]
    if any(
        name in _OTHERS or name.startswith(("jsr:", "https:", "npm:", "@std/", "@wdio/", "ember")) for name in imported
    ):
        return ""
    families = {_FAMILIES[name] for name in imported if name in _FAMILIES}
    if families:
        return families.pop() if len(families) == 1 else ""
    return "" if _OWN.search(plain) or not _ASSERTS.search(plain) else ANY
