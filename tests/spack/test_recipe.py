"""The files for Spack agree with each other: checked by reading, without Spack."""

from __future__ import annotations

import ast
import json
import re

import pytest
import yaml

from onesided.system.documents import load_schema
from onesided.system.paths import config_dir, project_root

ROOT = project_root()
SPACK = ROOT / "spack"
RECIPE = SPACK / "spack_repo" / "onesided" / "packages" / "onesided_kernels" / "package.py"
SMALL = sorted((SPACK / "envs").glob("*/spack.yaml"))
KEPT = [ROOT / "spack.yaml", SPACK / "portable.yaml", SPACK / "PIN", RECIPE, *SMALL]
KEPT += [SPACK / "envs" / "common.yaml", RECIPE.parents[2] / "repo.yaml"]
LEVELS = ["single", "funneled", "serialized", "multiple"]


def load(path):
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def recipe():
    return ast.parse(RECIPE.read_text("utf-8"))


def calls(tree, name):
    """Return a directive's calls: the positional values and the keywords, if constant."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            found.append((node.args, {keyword.arg: keyword.value for keyword in node.keywords}))
    return found


def variants(tree):
    return {arguments[0].value: keywords for arguments, keywords in calls(tree, "variant")}


def test_the_recipe_is_where_spack_looks_for_the_package_it_names(recipe):
    repository = load(SPACK / "spack_repo" / "onesided" / "repo.yaml")["repo"]
    assert repository["namespace"] == RECIPE.parents[2].name == "onesided"
    assert re.fullmatch(r"v\d+\.\d+", repository["api"])
    classes = [node.name for node in recipe.body if isinstance(node, ast.ClassDef)]
    assert classes == ["".join(part.title() for part in RECIPE.parent.name.split("_"))]


def test_the_variant_threads_has_the_levels_the_kernels_and_their_lines_know(recipe):
    values = ast.literal_eval(variants(recipe)["threads"]["values"])
    build = (ROOT / "src" / "kernels" / "CMakeLists.txt").read_text("utf-8")
    known = re.search(r"set\(thread_levels ([a-z ]+)\)", build)[1].split()
    line = json.dumps(load_schema("line"))
    assert list(values) == known == LEVELS
    assert all(f'"{level}"' in line for level in values)


def test_the_default_thread_level_is_that_of_a_build_without_spack(recipe):
    build = (ROOT / "src" / "kernels" / "CMakeLists.txt").read_text("utf-8")
    default = re.search(r"set\(ONESIDED_THREAD_LEVEL (\w+) CACHE", build)[1]
    assert ast.literal_eval(variants(recipe)["threads"]["default"]) == default


def test_every_option_the_recipe_sets_is_one_of_the_build():
    folder = ROOT / "src" / "kernels"
    build = (folder / "CMakeLists.txt").read_text("utf-8")
    options = set(re.findall(r"(?:set|option)\((ONESIDED_\w+) ", build))
    assert set(re.findall(r'"(ONESIDED_\w+)"', RECIPE.read_text("utf-8"))) == options


def test_the_recipe_asks_of_a_library_what_the_environments_ask():
    """The same version text counts, however an MPI was found."""
    text = RECIPE.read_text("utf-8")
    for name, family in load(config_dir() / "environments.yaml")["families"].items():
        asked = family["library_version_pattern"].replace(r"{major}\.{minor}", "{series}")
        package = family["spack"].split("@")[0]
        assert f'"{package}": r"{asked}"' in text, name


def test_the_tests_of_the_recipe_run_more_than_they_skip(recipe):
    tests = [node.name for node in ast.walk(recipe) if getattr(node, "name", "")[:5] == "test_"]
    assert {"test_two_ranks_verify_their_data", "test_wrong_data_is_found"} <= set(tests)


def test_the_default_environment_is_every_mpi_at_every_thread_level():
    document = load(ROOT / "spack.yaml")["spack"]
    (kernels,) = [item["kernels"] for item in document["definitions"] if "kernels" in item]
    assert kernels == [{"matrix": [["onesided-kernels"], [f"threads={x}" for x in LEVELS]]}]
    assert document["specs"] == [{"matrix": [["$kernels"], ["$^mpis"]]}]
    assert document["concretizer"] == {"unify": False}


def test_what_the_machine_file_says_stands_above_what_is_portable():
    included = load(ROOT / "spack.yaml")["spack"]["include"]
    assert [item["path"] for item in included] == [
        "spack/machines/local.yaml",
        "spack/machines/local.lean.yaml",
        "spack/portable.yaml",
    ]
    assert [item.get("optional", False) for item in included] == [True, True, False]
    assert (ROOT / included[-1]["path"]).is_file()


def folder_of(path, entry):
    return (path.parent / entry).resolve()


@pytest.mark.parametrize("path", [ROOT / "spack.yaml", *SMALL], ids=lambda path: path.parent.name)
def test_an_environment_builds_the_working_tree_into_the_folder_that_git_ignores(path):
    document = load(path)["spack"]
    base, common = path, document
    for entry in document["include"]:
        if entry["path"].endswith("common.yaml"):
            base = path.parent / entry["path"]
            common = load(base)
    (developed,) = common["develop"].values()
    assert folder_of(path, developed["path"]) == ROOT / "src" / "kernels"
    assert folder_of(base, common["repos"]["onesided"]) == SPACK / "spack_repo" / "onesided"
    assert common["config"] == {"develop_stage_link": "None"}
    (view,) = document["view"].values()
    assert folder_of(path, view["root"]).is_relative_to(ROOT / "build" / "spack")


def test_there_is_a_small_environment_for_each_family_that_is_declared():
    families = load(config_dir() / "environments.yaml")["families"].values()
    packages = {family["spack"].split("@")[0] for family in families}
    assert packages <= {path.parent.name for path in SMALL}


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.parent.name)
def test_a_small_environment_is_of_the_one_mpi_it_is_named_for(path):
    text = path.read_text("utf-8")
    package = path.parent.name.removesuffix("-openshmem")
    assert set(re.findall(r"\^([a-z][a-z-]*)[@+~ \],]", text.split("specs:")[1])) == {package}
    assert f"spack -e spack/envs/{path.parent.name} concretize" in text


@pytest.mark.parametrize("path", KEPT, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_that_is_kept_names_a_place_of_one_machine(path):
    text = path.read_text("utf-8")
    assert not re.search(r"(?<![\w.}>$/])/(?:usr|opt|home|root|tmp|work|scratch|apps)\b", text)
    assert "://" not in text


def test_the_pin_names_spack_and_its_packages_by_version_and_commit():
    lines = (SPACK / "PIN").read_text("utf-8").splitlines()
    pins = [line.split() for line in lines if line and not line.startswith("#")]
    assert [pin[0] for pin in pins] == ["spack", "spack-packages"]
    for _, version, commit in pins:
        assert re.fullmatch(r"v?\d+\.\d+\.\d+(\.dev\d+)?", version)
        assert re.fullmatch(r"[0-9a-f]{40}", commit)
