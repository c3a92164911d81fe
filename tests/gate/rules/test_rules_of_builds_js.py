"""Rules about builds and coverage of JavaScript that cannot fail: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

CI = ".github/workflows/ci.yml"
NEXT = {
    "package.json": "{}",
    "next.config.mjs": "export default {\n  typescript: { ignoreBuildErrors: true },\n  // eslint: { ignoreDuringBuilds: true }\n}\n",
}
TYPES = "next.config.mjs:2 `next build` passes over type errors"
LINT = "next.config.js:1 `next build` passes over ESLint's errors"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"gate.toml": policy(b="next build"), **NEXT}, [f"error {TYPES}, and the gate has no type check of its own"]),
        ({"gate.toml": policy(t="vitest run"), **NEXT}, [f"warning {TYPES}, and the gate has no type check of its own"]),
        ({"gate.toml": policy(b="next build", t="npx tsc --noEmit"), **NEXT}, [f"note {TYPES}; `tsc --noEmit` of the gate looks for them"]),
        ({"gate.toml": policy(b="next build", t="turbo run check-types"), **NEXT}, [f"note {TYPES}; `check-types` of the gate looks for them"]),
        ({"gate.toml": policy(b="next build"), "package.json": "{}", "next.config.js": "module.exports = withX({ eslint: { 'ignoreDuringBuilds': true } })\n"}, [f"error {LINT}, and the gate has no linter of its own"]),
        ({"gate.toml": policy(b="react-scripts build"), ".env": "A=b\nTSC_COMPILE_ON_ERROR=true\n"}, ["error .env:2 `react-scripts build` passes over type errors, and the gate has no type check of its own"]),
        ({"gate.toml": policy(b="next build"), "next.config.ts": "export default { typescript: { ignoreBuildErrors: !!process.env.CI }, eslint: { ignoreDuringBuilds: false } }\n"}, []),
    ],
    ids=["types", "not built", "types are checked beside", "types are checked by turbo", "lint", "react-scripts", "computed or off"],
)  # fmt: skip
def test_builds_that_pass_over_errors_are_named(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    assert seen("build_ignores_errors", tmp_path, files) == expected


JEST = {
    "jest.config.js": "module.exports = {\n  coverageThreshold: { global: { lines: 80 } },\n}\n",
    "package.json": "{}",
}
ALL = {
    **JEST,
    "jest.config.js": "module.exports = { collectCoverageFrom: ['src/**'],\n  coverageThreshold: { global: { lines: 80 } },\n}\n",
}
VITEST = {"vitest.config.ts": "export default { test: { coverage: {\n thresholds: { lines: 80 } } } }\n"}
NYC = {".nycrc": '{\n"lines": 80}'}
NOT_MEASURED = "has limits of coverage, and no run of the gate has"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("jest", JEST, [f"error jest.config.js:2 t: jest {NOT_MEASURED} --coverage"]),
        ("jest --coverageThreshold '{}'", {"package.json": "{}"}, [f"error gate.toml:2 t: jest {NOT_MEASURED} --coverage"]),
        ("jest --coverage", JEST, ["error jest.config.js:2 t: jest has limits of coverage, and files that no test imports do not count"]),
        ("vitest run", VITEST, [f"error vitest.config.ts:2 t: vitest {NOT_MEASURED} --coverage"]),
        ("nyc mocha", NYC, [f"error .nycrc:2 t: nyc {NOT_MEASURED} --check-coverage"]),
        ("nyc mocha", {".nycrc": '{"check-coverage": false,\n"lines": 80}'}, [f"note .nycrc:2 t: nyc {NOT_MEASURED} --check-coverage"]),
        ("c8 --lines 80 mocha", {}, [f"error gate.toml:2 t: c8 {NOT_MEASURED} --check-coverage"]),
        ("mocha", {"package.json": '{"devDependencies": {"nyc": "1"}, "nyc": {"check-coverage": true,\n"lines": 80}}'}, ["error package.json:2 t: nyc has limits, and the gate runs the tests without nyc"]),
        ("jest --coverage", ALL, []), ("jest && jest --coverage", ALL, []), ("vitest run --coverage", VITEST, []),
        ("vitest run", {"vitest.config.ts": "export default { test: { coverage: { enabled: true, thresholds: { lines: 80 } } } }\n"}, []),
        ("jest", {"package.json": '{"jest": {"collectCoverage": true, "coverageThreshold": {"global": {"lines": 1}}, "collectCoverageFrom": ["src"]}}'}, []),
        ("jest", {"jest.config.js": "module.exports = { ...require('x'), coverageThreshold: { global: { lines: 80 } } }", "package.json": "{}"}, []),
        ("nyc --check-coverage mocha", NYC, []), ("nyc mocha", {".nycrc": '{"check-coverage": true, "lines": 80}'}, []), ("c8 mocha", {}, []), ("nyc report", NYC, []),
    ],
)  # fmt: skip
def test_limits_of_coverage_that_nothing_compares_with_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("coverage_gate_inert", tmp_path, {"gate.toml": policy(t=command), **files}) == expected


UPLOAD = "      - uses: codecov/codecov-action@v5\n        with:\n          fail_ci_if_error: {}\n"
INFORMS = "coverage:\n  status:\n    project:\n      default:\n        informational: true\n    patch: {}\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({CI: workflow("jest --coverage") + UPLOAD.format("false")}, [f"warning {CI}:10 test / step 2: nothing but Codecov looks at coverage, and a failed upload is green"]),
        ({"codecov.yml": INFORMS.format("off")}, ["warning codecov.yml:5 nothing but Codecov looks at coverage, and its statuses only inform"]),
        ({"codecov.yml": INFORMS.format("{default: {target: 80%}}")}, []),
        ({CI: workflow("jest --coverage") + UPLOAD.format("true")}, []),
        ({CI: workflow("jest --coverage") + UPLOAD.format("false"), **ALL}, []),
        ({CI: workflow("pytest --cov-fail-under 80") + UPLOAD.format("false")}, []),
    ],
    ids=["a failed upload", "statuses that inform", "a status that may fail", "an upload that must not fail", "jest compares", "pytest compares"],
)  # fmt: skip
def test_codecov_that_never_fails_is_named_where_nothing_else_compares(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("coverage_gate_inert", tmp_path, files) == expected
