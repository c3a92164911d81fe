"""An assertion counts where it is reached and can fail: each way to neutralise one, beside what only looks like it."""

import time

import pytest

from gate.integrity.cases import cases

PYTHON = {
    "while False": "while False:\n        assert f(1) == 2",
    "a loop over nothing": "for _ in []:\n        assert f(1) == 2",
    "range(0)": "for _ in range(0):\n        assert f(1) == 2",
    "if 0": "if 0:\n        assert f(1) == 2",
    "if not True": "if not True:\n        assert f(1) == 2",
    "the else of if True": "if True:\n        pass\n    else:\n        assert f(1) == 2",
    "if False and more": "if False and f(1):\n        assert f(1) == 2",
    "if TYPE_CHECKING": "if TYPE_CHECKING:\n        assert f(1) == 2",
    "after if True: return": "if True:\n        return\n    assert f(1) == 2",
    "after a return in with": "with open('x'):\n        return\n    assert f(1) == 2",
    "after continue": "for x in f(1):\n        continue\n        assert x == 2",
    "a finally that returns": "try:\n        assert f(1) == 2\n    finally:\n        return",
    "True or": "assert True or f(1) == 2",
    "or True": "assert f(1) == 2 or True",
    "or its opposite": "assert f(1) is None or f(1) is not None",
    "equal to itself": "assert f(1) == f(1)",
    "any of True": "assert any([True, f(1) == 2])",
    "bool(1)": "assert bool(1)",
    "True if True": "assert True if True else f(1) == 2",
    "an object": "assert isinstance(f(1), object)",
    "a length": "assert len(f(1)) >= 0",
    "a walrus": "assert (x := True)",
    "an inner function that nobody calls": "def inner():\n        assert f(1) == 2",
    "assertTrue of or True": "self.assertTrue(f(1) or True)",
    "assertEqual with itself": "self.assertEqual(f(1), f(1))",
    "a lambda that nobody calls": "check = lambda: self.assertEqual(f(1), 2)",
    "a yield": "assert f(1) == 2\n    yield",
    "a match of constants": "match 1:\n        case 2:\n            assert f(1) == 2",
    "a guard that never holds": "match f(1):\n        case _ if False:\n            assert f(1) == 2",
    "assertIsNotNone of a tuple": "self.assertIsNotNone((f(1),))",
}
PYTHON_REAL = {
    "while True": "while True:\n        assert f(1) == 2\n        break",
    "a range": "for x in range(3):\n        assert f(x) == x",
    "either of two": "assert f(1) == 2 or f(2) == 3",
    "a condition": "if sys.platform:\n        assert f(1) == 2",
    "an early return on a condition": "if f(0) is None:\n        return\n    assert f(1) == 2",
    "what a with waits for": "with pytest.raises(ValueError):\n        raise ValueError\n    assert f(1) == 2",
    "an inner function that is called": "def inner():\n        assert f(1) == 2\n    inner()",
    "an inner function that is handed on": "def inner():\n        assert f(1) == 2\n    go(inner)",
    "a try with a return and handlers": "try:\n        return\n    except ValueError:\n        pass\n    assert f(1) == 2",
    "an empty list": "assert f(1) == []",
    "other arguments": "assert f(1) == f(2)",
    "a lambda that is called": "check = lambda: self.assertEqual(f(1), 2)\n    check()",
    "a lambda that is handed on": "go(lambda: self.assertEqual(f(1), 2))",
    "a yield of a function in it": "def g():\n        yield f(1)\n    assert list(g()) == [2]",
    "a match of what the code gives": "match f(1):\n        case 2:\n            assert f(2) == 3",
    "a match of a constant with itself": "match 1:\n        case 1:\n            assert f(2) == 3",
}
SCRIPT = {
    "after a return on its line": "return; expect(f(1)).toBe(2)",
    "after a return of something": "return undefined\n  expect(f(1)).toBe(2)",
    "after if (true) return": "if (true) return\n  expect(f(1)).toBe(2)",
    "after a block that always returns": "if (true) { return }\n  expect(f(1)).toBe(2)",
    "|| true": "expect(f(1) === 2 || true).toBe(true)",
    "true ||": "expect(true || f(1)).toBe(true)",
    "assert || true": "assert(f(1) || true)",
    "a constant": "expect(true).toBe(true)",
    "a constant that is not another": "expect(1).not.toBe(2)",
    "an empty list": "expect([]).toEqual([])",
    "itself": "expect(f(1)).toBe(f(1))",
    "no matcher": "expect(f(1))",
    "constants of assert": "assert.equal(1, 1)",
    "while (false)": "while (false) {\n expect(f(1)).toBe(2)\n }",
    "if (!1)": "if (!1) {\n expect(f(1)).toBe(2)\n }",
    "if(false)": "if(false) expect(f(1)).toBe(2)",
    "if (false && more)": "if (false && f(1)) { expect(f(1)).toBe(2) }",
    "false &&": "false && expect(f(1)).toBe(2)",
    "true || a statement": "true || expect(f(1)).toBe(2)",
    "for of nothing": "for (const x of []) expect(f(1)).toBe(2)",
    "nothing.forEach": "[].forEach((x) => expect(f(x)).toBe(2))",
    "anything": "expect(f(1)).toEqual(expect.anything())",
    "a timer that nobody waits for": "setTimeout(() => { expect(f(1)).toBe(2) }, 10)",
    "setImmediate": "setImmediate(() => expect(f(1)).toBe(2))",
    "a catch that only prints": "try { expect(f(1)).toBe(2) } catch (e) { console.log(e) }",
}
SCRIPT_REAL = {
    "a return in a callback": "const xs = [1].filter((x) => { return x > 1 })\n  expect(xs.length).toBe(1)",
    "a returned promise": "return expect(g()).resolves.toBe(2)",
    "a returned promise over lines": "return g()\n    .then((x) => { expect(x).toBe(2) })",
    "a return on a condition": "if (!x) return\n  expect(f(1)).toBe(2)",
    "a return in a block": "if (!x) {\n    return\n  }\n  expect(f(1)).toBe(2)",
    "a return after a call on the line before": "g()\n  expect(f(1)).toBe(2)\n  return",
    "a matcher on the next line": "expect(f(1))\n    .toBe(2)",
    "words in a string": "expect(parse('a || true; return')).toBe('b')",
    "braces in a string": "expect(f('}')).toBe('{')\n  return",
    "or in an argument": "expect(f(true || false)).toBe(2)",
    "the arguments the other way round": "expect(2).toBe(f(1))",
    "a list": "[1, 2].forEach((x) => expect(f(x)).toBe(2))",
    "two strings": "expect(f('a')).toBe(f('b'))",
    "anything inside of an object": "expect(f(1)).toEqual({ id: expect.anything(), n: 2 })",
    "a timer that ends the test": "setTimeout(() => { expect(f(1)).toBe(2); done() }, 10)",
    "a timer that is waited for": "await new Promise((r) => setTimeout(() => { expect(f(1)).toBe(2); r() }, 10))",
    "a timer that hands on": "await new Promise((ok) => setTimeout(ok, 10))\n  expect(f(1)).toBe(2)",
    "a clock of the test": "vi.useFakeTimers(); setTimeout(() => { expect(f(1)).toBe(2) }, 10); vi.runAllTimers()",
    "a catch that looks": "try { f(1); expect(1).toBe(f(2)) } catch (e) { expect(e).toBe(2) }",
}
OTHERS = {
    "go: if false": ("a_test.go", "func TestA(t *testing.T) {\n\tif false {\n\t\tt.Fatal()\n\t}\n}\n", 0),
    "go: unequal to itself": ("a_test.go", "func TestA(t *testing.T) {\n\tif f() != f() {\n\t\tt.Fatal()\n\t}\n}\n", 0),
    "go: if true return": ("a_test.go", "func TestA(t *testing.T) {\n\tif true {\n\t\treturn\n\t}\n\tt.Fatal()\n}\n", 0),
    "go: a guard": ("a_test.go", "func TestA(t *testing.T) {\n\tif short {\n\t\treturn\n\t}\n\tt.Fatal()\n}\n", 1),
    "rust: || true": ("src/a.rs", "#[test]\nfn a() { assert!(f() > 0 || true); }\n", 0),
    "rust: constants": ("src/a.rs", "#[test]\nfn a() { assert_eq!(1, 1); }\n", 0),
    "rust: if false": ("src/a.rs", "#[test]\nfn a() { if false { assert!(f()); } }\n", 0),
    "rust: a lifetime": ("src/a.rs", "#[test]\nfn a() { let x: &'static str = f(); assert!(x == \"}\"); }\n", 1),
    "java: || true": ("ATest.java", "@Test void a() { assertTrue(f() || true); }\n", 0),
    "java: if (true) return": ("ATest.java", "@Test void a() { if (true) return; assertTrue(f()); }\n", 0),
    "c#: || true": ("ATests.cs", "[Fact]\npublic void A() { Assert.True(F() || true); }\n", 0),
    "php: after a return": ("ATest.php", "<?php function testA() { return; $this->assertTrue(f()); }\n", 0),
    "ruby: if false": ("a_spec.rb", "it 'a' do\n  expect(f).to eq(1) if false\nend\n", 0),
    "ruby: after next": ("a_spec.rb", "it 'a' do\n  next\n  expect(f).to eq(1)\nend\n", 0),
    "ruby: a guard": ("a_spec.rb", "it 'a' do\n  if x\n    return\n  end\n  expect(f).to eq(1)\nend\n", 1),
}  # fmt: skip
HOSTILE = ("try {", "if (", "if(true){", "return ", "if(x)return ", "expect(", "assert.equal(", "() => { return ",
           "\nfalse && ", "if a != ", "({[", "setTimeout(", "setTimeout(expect(f(1)))\n",
           "expect(f(1)).toEqual(expect.anything(1))")  # fmt: skip


def counted(path: str, text: str) -> list[bool]:
    return [case.asserts > 0 for case in cases(path, text)]


@pytest.mark.parametrize("body", PYTHON.values(), ids=PYTHON)
def test_a_python_assertion_that_cannot_fail_does_not_count(body: str) -> None:
    assert counted("test_a.py", f"def test_a(self):\n    {body}\n") == [False]


@pytest.mark.parametrize("body", PYTHON_REAL.values(), ids=PYTHON_REAL)
def test_a_python_assertion_that_can_fail_counts(body: str) -> None:
    assert counted("test_a.py", f"def test_a(self):\n    {body}\n") == [True]


@pytest.mark.parametrize(
    ("decorator", "counts"),
    [
        ("inlineCallbacks", True),
        ("testing.gen_test", True),
        ("pytest.mark.slow", False),
        ("unittest.skipIf(X, 'x')", False),
    ],
)
def test_a_generator_counts_where_a_decorator_goes_through_it(decorator: str, counts: bool) -> None:
    text = f"@{decorator}\ndef test_a(self):\n    x = yield f(1)\n    assert x == 2\n"
    assert counted("test_a.py", text) == [counts]


@pytest.mark.parametrize("body", SCRIPT.values(), ids=SCRIPT)
def test_an_expectation_that_cannot_fail_does_not_count(body: str) -> None:
    assert counted("a.test.ts", f"it('a', () => {{\n  {body}\n}})\nit('b', () => {{ expect(f()).toBe(1) }})\n") == [
        False,
        True,
    ]


@pytest.mark.parametrize("body", SCRIPT_REAL.values(), ids=SCRIPT_REAL)
def test_an_expectation_that_can_fail_counts(body: str) -> None:
    assert counted("a.test.ts", f"it('a', () => {{\n  {body}\n}})\nit('b', () => {{ expect(f()).toBe(1) }})\n") == [
        True,
        True,
    ]


@pytest.mark.parametrize(("path", "text", "asserts"), OTHERS.values(), ids=OTHERS)
def test_assertions_of_other_languages_count_where_they_are_reached(path: str, text: str, asserts: int) -> None:
    assert [case.asserts for case in cases(path, text)] == [asserts]


def test_tests_behind_a_return_are_not_collected() -> None:
    text = "describe('x', () => {\n  return\n  it('a', () => { expect(f()).toBe(1) })\n})\n"
    assert cases("a.test.ts", text) == []


@pytest.mark.parametrize("word", HOSTILE)
def test_text_made_to_be_slow_is_read_in_a_time_that_grows_with_it(word: str) -> None:
    began = time.process_time()
    cases("a.test.ts", "it('a', () => {" + word * (100_000 // len(word)))
    assert time.process_time() - began < 5
