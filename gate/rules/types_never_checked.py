"""A package is written in TypeScript, the gate runs its tests or builds it, and nothing checks its types."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.packages import Member, home, packages
from gate.repository.javascript.scripts import gated, is_told_elsewhere, leaves_to_others
from gate.repository.javascript.tsconfig import SUFFIXES
from gate.repository.opening import Repository

ID = "types-never-checked"
SUMMARY = (
    "vite, esbuild, swc, babel, tsx, vitest and bun take types away and check none of them: a package with a tsconfig.json whose gate runs\n"
    "only these is green with any type error.\n"
    "Next: add a step with `tsc --noEmit` (`vue-tsc`, `svelte-check`, `astro check`)."
)
# they check types by themselves, or nobody can say what they do
_CHECK = {
    "tsc", "vue-tsc", "tsgo", "svelte-check", "astro", "nuxi", "nuxt", "next", "ng", "react-scripts", "tsd", "glint", "ember-tsc", "deno", "ngc", "tspc", "expo", "vue-cli-service",
    "attw", "dtslint", "tstyche", "tsc-files", "tsup", "tsdown", "unbuild", "nest", "typedoc", "api-extractor", "microbundle", "tsdx", "dts", "father", "bazel", "lage", "moon", "rush",
    "gulp", "grunt", "wireit", "heft", "gts", "umi", "stencil", "rslib", "zshy", "tshy", "preconstruct", "nx", "jake", "kcd-scripts", "backstage-cli", "oxlint", "vp", "bob",
}  # fmt: skip
# packages by which a build or a test checks types
_BY_PACKAGES = (
    "ts-jest", "ts-loader", "ts-node", "fork-ts-checker-webpack-plugin", "vite-plugin-checker", "vite-plugin-dts", "rollup-plugin-typescript2", "@rollup/plugin-typescript",
    "rollup-plugin-ts", "rollup-plugin-dts", "gulp-typescript", "grunt-ts", "@microsoft/api-extractor", "tsup", "unbuild", "tsdown", "awesome-typescript-loader", "tsify", "@parcel/validator-typescript",
    "ttypescript", "ts-patch", "typescript-plugin-css-modules", "@rsbuild/plugin-type-check", "ts-checker-rspack-plugin", "esbuild-plugin-typecheck", "unplugin-dts",
)  # fmt: skip
_FEWEST = 3  # sources
_ASIDE = ("examples/", "example/", "demo/", "demos/", "playground/", "template", "docs/", "website/", "benchmark")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding with all such packages."""
    commands = [c for at in repo.gate for c in at.commands]
    if (
        not commands
        or leaves_to_others(repo)
        or any(c.argv[0] in _CHECK or c.argv[0].startswith("$") for c in commands)
    ):
        return
    if any("typecheck" in word or "type-check" in word for c in commands for word in c.argv):
        return
    sources: dict[str, list[str]] = {}
    for path in repo.tree.sources(*SUFFIXES):
        if ".d." not in path and ".config." not in path and not any(part in path for part in _ASIDE):
            sources.setdefault(home(repo.tree, path), []).append(path)
    top = packages(repo.tree).get(".")
    found = [
        m
        for m in packages(repo.tree).values()
        if len(sources.get(m.folder, ())) >= _FEWEST and _is_unchecked(repo, m, top)
    ]
    if found:
        files = sorted(p for m in found for p in sources[m.folder])
        where = f"{len(found)} packages" if len(found) > 1 else "this package"
        path = found[0].path.removesuffix("package.json") + "tsconfig.json"
        told = any(is_told_elsewhere(repo, name) for name in ("tsc", "typecheck", "type-check"))
        yield Finding(
            ID, Level.NOTE if told else Level.WARNING, f"nothing in the gate checks the types of {where} ({len(files)} files)", path, 1, tuple(files), len(files),
            fix="add a step with `tsc --noEmit`", reproduce=f"npx tsc --noEmit -p {path}",
        )  # fmt: skip


def _is_unchecked(repo: Repository, member: Member, top: Member | None) -> bool:
    path = member.path.removesuffix("package.json") + "tsconfig.json"
    if path not in repo.tree.known or any(m.depends(*_BY_PACKAGES) for m in (member, top) if m):
        return False
    return member.folder in gated(repo).folders
