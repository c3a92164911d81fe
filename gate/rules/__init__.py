"""Rules of the audit: one module for one way in which checks are green and nothing was verified, listed in RULES.

A rule looks at files only; nothing of the repository is run. It is quiet about its near miss: each has a test with a
tree that trips it and one that must not.
"""

import importlib
from collections.abc import Iterator
from typing import Protocol

from gate.report import Finding
from gate.repository.opening import Repository

RULES = (
    "affected_only_gate",
    "aggregator_ignores_cancelled",
    "all_skipped_module",
    "build_ignores_errors",
    "build_step_missing",
    "build_tag_hides_tests",
    "cache_inputs_incomplete",
    "changed_only_on_clean_checkout",
    "compose_exit_lost",
    "condition_always_false",
    "condition_always_true",
    "continue_on_error",
    "coverage_gate_inert",
    "ctest_without_tests",
    "dynamic_matrix_can_be_empty",
    "empty_selection_passes",
    "errexit_suspended",
    "exit5_swallowed",
    "exit_swallowed",
    "exit_zero",
    "fails_open",
    "feature_not_gated",
    "filter_matches_no_package",
    "fixer_in_gate",
    "focused_test_committed",
    "forbid_only_missing",
    "hand_listed_tests_incomplete",
    "if_present_missing_script",
    "ignore_failure_prefix",
    "ignored_tests_rust",
    "lint_excludes_source",
    "lint_no_rules_js",
    "lint_no_rules_python",
    "lint_skips_extension",
    "lint_warn_only",
    "lister_never_fails",
    "mypy_isolated_env",
    "no_policy",
    "or_echo_masks_failure",
    "pass_with_no_tests",
    "pass_with_no_tests_others",
    "paths_filter_on_required",
    "pipe_hides_exit",
    "pre_commit_without_all_files",
    "required_job_can_skip",
    "runner_result_dropped",
    "script_glob_matches_nothing",
    "script_not_wired",
    "script_refers_missing_script",
    "secret_gated_check",
    "skip_tests_flag_gradle",
    "skip_tests_flag_maven",
    "tag_filter_excludes",
    "target_shadowed_by_path",
    "task_defined_nowhere",
    "test_cannot_fail",
    "test_glob_misses_js",
    "test_glob_misses_maven",
    "test_glob_misses_php",
    "test_glob_misses_python",
    "test_glob_misses_ruby",
    "test_glob_misses_swift",
    "testpaths_missing_dir",
    "tox_skips_missing_interpreters",
    "tsc_solution_file_checks_nothing",
    "twin_workflow_always_green",
    "typecheck_excludes_source_js",
    "typecheck_excludes_source_python",
    "typecheck_ignores_errors",
    "types_never_checked",
    "untyped_bodies_unchecked",
    "will_fail",
    "workflow_invalid",
    "workspace_member_not_gated",
    "workspace_member_not_gated_dotnet",
    "workspace_member_not_gated_go",
    "xfail_not_strict",
)

PLUMBING = ()


class Rule(Protocol):
    """One module of this folder."""

    ID: str  # of its findings: `pass-with-no-tests`
    SUMMARY: str  # what it means and what mends it, for `gate explain`

    @staticmethod
    def check(repo: Repository) -> Iterator[Finding]:
        """Yield what is wrong, each with a place, a mend and the command that shows it."""
        ...


def load(name: str) -> Rule:
    """Return the rule of a module's name."""
    rule: Rule = importlib.import_module(f"gate.rules.{name}")  # type: ignore[assignment]
    return rule


def all_rules() -> tuple[Rule, ...]:
    """Return the whole family."""
    return tuple(load(name) for name in RULES)


def summaries() -> dict[str, str]:
    """Return what each id means, in order; modules of several languages may share one, and their texts are joined."""
    found = dict[str, str]()
    for rule in sorted(all_rules(), key=lambda r: r.ID):
        found[rule.ID] = f"{found[rule.ID]}\n\n{rule.SUMMARY}" if rule.ID in found else rule.SUMMARY
    return found
