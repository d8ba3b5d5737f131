"""Conformance: a model without MPI, a comparison of every byte, and cells as C programs."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from onesided.studies.data import axes, cell_program
from onesided.system.paths import project_root

from .asserting import verified
from .conftest import HERE, SANITIZERS
from .launching import KERNELS, preloaded_mpi

SOURCES = KERNELS / "data" / "conformance"
#: The sources that are linked with the units: the model of datatypes and operators.
MODEL = [SOURCES / f"{name}.c" for name in ("shape", "draw", "layouts")]
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror")
SYNCHRONISATIONS = ",".join(axes.AXES["synchronisation"])
LAYOUTS = ",".join(axes.LAYOUTS)
AT_BOTTOM = "bottom,bottom_contiguous"
ELEMENTS = ",".join(axes.ELEMENTS)
#: Cells that together have each call, synchronisation and flavor, and rare values. No cell has
#: short_int, because Intel MPI 2021.18.1 does not find the minimum of short_int.
PROGRAMS = [
    ("--call=put", "--windows=8_freed_backwards", "--datatypes=freed_early"),
    ("--call=get", "--synchronisation=fence", "--flavor=create", "--layout_origin=bottom"),
    ("--call=fetch_and_op", "--synchronisation=lock_exclusive", "--element=double_int",
     "--operator=maxloc", "--overlap=same"),
    ("--call=accumulate", "--synchronisation=pscw", "--flavor=shared", "--overlap=all_ranks"),
    ("--call=get_accumulate", "--synchronisation=lock_shared", "--flavor=dynamic",
     "--element=double_complex", "--operator=prod"),
    ("--call=compare_and_swap", "--synchronisation=lock_shared_nocheck", "--element=uint16",
     "--overlap=same"),
    ("--call=rput", "--synchronisation=lock_all_nocheck", "--layout_target=drawn"),
    ("--call=rget", "--synchronisation=lock_all_flush_local", "--layout_origin=negative"),
    ("--call=raccumulate", "--element=long_double", "--layout_origin=nested", "--windows=2"),
    ("--call=rget_accumulate", "--flavor=dynamic", "--memory=one", "--element=two_int",
     "--operator=minloc"),
    ("--call=accumulate", "--layout_origin=bottom", "--layout_target=subarray", "--target=self"),
    ("--call=get_accumulate", "--layout_origin=bottom_contiguous", "--layout_target=indexed"),
    ("--call=put", "--synchronisation=fence", "--element=int8", "--layout_origin=drawn",
     "--layout_target=drawn", "--window=exact", "--target=first"),
]  # fmt: skip
DEFECTS = project_root() / "docs" / "defects"
WRITTEN_BY_HAND = {"freed_communicator.c", "put_descending_bytes.c", "put_many_pieces.c"}
WRITTEN_BY_HAND |= {"win_set_errhandler.c", "receive_any_source.c"}
IN_MAKE_TEST = 3
OF_CI = (pytest.mark.slow, pytest.mark.first_mpi)


@pytest.fixture(scope="module")
def conformance(each):
    return each("conformance")


@pytest.fixture(scope="module")
def faulty(environment, tmp_path_factory):
    """Return a function that gives the variables for a launch with a faulty MPI."""
    folder = tmp_path_factory.mktemp(f"faulty-{environment.name}")
    library = preloaded_mpi(HERE / "faulty_data.c", environment, folder)
    return lambda name: {**library, "FAULTY_DATA": name}


def of_labels(run, *axes):
    """Return the statuses of a launch, by the values of some axes."""
    return {
        tuple(result["labels"][axis] for axis in axes): result["status"]
        for result in run.results.values()
    }


# ---- The model ----


@pytest.mark.first_mpi
def test_the_model_finds_the_elements_and_makes_the_sums_that_mpi_does(
    environment, sanitized_folder, sanitizer_options, tmp_path
):
    program = tmp_path / "conformance_units"
    subprocess.run(
        [
            *(environment.document["compilers"]["c"], *STRICT, "-D_GNU_SOURCE", "-I", KERNELS),
            *("-fsanitize=address,undefined", HERE / "conformance_units.c", *MODEL),
            *(sanitized_folder / "libharness.a", "-lm", "-ldl", "-lpthread", "-o", program),
        ],
        env=environment.variables(),
        check=True,
    )
    run = subprocess.run(
        [*environment.launch_line(1), program, "1", "40"],
        env=environment.variables() | sanitizer_options,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.first_mpi
def test_sanitizers_find_nothing_in_any_layout_or_element(each):
    run = each("conformance", SANITIZERS).launch(
        f"--cells=layout_origin={LAYOUTS},{AT_BOTTOM};layout_target=nested;call=accumulate",
        f"--cells=layout_target={LAYOUTS};layout_origin=backwards;call=get",
        f"--cells=element={ELEMENTS};layout_origin=drawn;layout_target=drawn;call=put",
        "--cells=call=put;layout_origin=empty;layout_target=empty",
        "--rounds=1",
    )
    assert run.code == 0, run.stderr
    assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr
    assert set(run.statuses.values()) == {"ok"}
    assert len(run.results) == 17 + 15 + 20 + 1


@pytest.mark.first_mpi
@pytest.mark.beside
def test_the_axes_of_the_check_and_the_page_are_those_of_the_kernel(conformance):
    for name, values in axes.AXES.items():
        line = [conformance.executable, "--list-cells", f"--{name}=nonsense"]
        answer = subprocess.run(line, capture_output=True, text=True)
        assert answer.returncode == 2
        known = answer.stderr.strip().partition("expected one of ")[2].split(", ")
        assert sorted(known) == sorted(values), name


# ---- Faults that are found ----


def test_every_byte_of_every_window_and_buffer_is_compared(conformance):
    run = conformance.launch("--call=get_accumulate,put,get", "--windows=1,2", "--rounds=3")
    for result in run.results.values():
        looks = {"1": 1, "2": 2 * 2}[result["labels"]["windows"]]
        checked = {name: count for name, (count, _) in verified(result).items()}
        assert checked.pop("window") == 2 * 3 * looks * result["window"]["size_bytes"]
        buffers = {"put": {"origin"}, "get": {"result"}, "get_accumulate": {"origin", "result"}}
        assert set(checked) == buffers[result["labels"]["call"]]
        # four operations with three times six elements of the vector, in slots, between margins
        slot = 2 * 10 * 4 + 10 * 4
        assert set(checked.values()) == {3 * int(result["labels"]["windows"]) * (4 * slot + 128)}


@pytest.mark.first_mpi
def test_what_completes_too_late_is_found_exactly_where_a_completion_promised_it(
    conformance, faulty
):
    """After a wait or a flush_local: at the origin; after other calls also at the target."""
    run = conformance.launch(
        *("--call=put,get,rput,rget", f"--synchronisation={SYNCHRONISATIONS}", "--flavor=create"),
        variables=faulty("late"),
    )
    assert run.code == 3, run.stderr
    for (call, synchronisation), status in of_labels(run, "call", "synchronisation").items():
        has_request = call in ("rput", "rget")
        if has_request and synchronisation in ("fence", "pscw"):
            assert status == "unsupported"
        elif has_request or synchronisation == "lock_all_flush_local":
            assert status == "wrong_data", (call, synchronisation)
        else:
            assert status == "ok", (call, synchronisation)


@pytest.mark.first_mpi
def test_what_a_put_writes_between_the_elements_is_found(conformance, faulty):
    layouts = "--layout_target=plain,contiguous,vector,indexed,struct,nested"
    run = conformance.launch("--call=put", layouts, variables=faulty("span"))
    for result in run.results.values():
        if result["labels"]["layout_target"] in ("plain", "contiguous"):
            assert result["status"] == "ok"
        else:
            assert result["status"] == "wrong_data"
            assert "which no operation accesses" in result["detail"]


@pytest.mark.first_mpi
def test_a_put_that_goes_to_another_window_too_is_found(conformance, faulty):
    run = conformance.launch("--call=put", "--windows=1,2,8", variables=faulty("two_windows"))
    assert of_labels(run, "windows") == {("1",): "ok", ("2",): "wrong_data", ("8",): "wrong_data"}


# ---- Cells that are asked for ----


def details(run):
    assert set(run.statuses.values()) == {"unsupported"}
    return [result["detail"] for result in run.results.values()]


@pytest.mark.first_mpi
def test_what_mpi_forbids_is_unsupported_and_the_reason_names_the_section(conformance):
    forbidden = {
        "call=rput;synchronisation=fence,pscw": "12.3.5",
        "call=accumulate;operator=no_op": "12.3.4",
        "call=accumulate;operator=band;element=double,float_complex,two_int": "6.9.2",
        "call=fetch_and_op;operator=sum;element=logical,byte,double_int": "6.9.2",
        "call=compare_and_swap;element=double,long_double,float_int": "12.3.4",
    }
    for cells, section in forbidden.items():
        for detail in details(conformance.launch(f"--cells={cells}")):
            assert f"(MPI 4.1, {section})" in detail


@pytest.mark.first_mpi
def test_what_depends_on_the_order_of_ranks_is_unsupported(conformance):
    run = conformance.launch(
        "--cells=call=accumulate;overlap=all_ranks;operator=replace",
        "--cells=call=get_accumulate,fetch_and_op,compare_and_swap;overlap=all_ranks",
    )
    assert len(run.results) == 4
    assert set(details(run)) == {"what all ranks at one place make of this depends on their order"}


def program_of(kernel, path, *options, status="ok", variables=None):
    lines = path.with_suffix(".jsonl")
    run = kernel.launch(*options, f"--cell-data={lines}", variables=variables)
    assert set(run.statuses.values()) == {status}, run.stderr
    cell = json.loads(lines.read_text("utf-8").splitlines()[-1])
    path.write_text(cell_program.program(cell, []), "utf-8")
    return path.read_text("utf-8")


@pytest.mark.first_mpi
def test_a_seed_gives_the_same_values_and_trees_again_and_another_one_others(conformance, tmp_path):
    path = tmp_path / "program.c"
    drawn = ("--call=put", "--layout_origin=drawn", "--layout_target=drawn")
    one, again, other = (
        program_of(conformance, path, *drawn, f"--seed={seed}") for seed in (5, 5, 6)
    )
    assert one == again

    def values(text):
        """Return the values sent, and the values between them."""
        return re.findall(r"^static const unsigned char origin.*?;", text, re.DOTALL | re.MULTILINE)

    def trees(text):
        return re.findall(r"MPI_Type_[a-z_]+\([^;]*;", text)

    assert values(one) != values(other)
    assert trees(one) != trees(other)
    # a smaller cell has the trees of a larger cell
    smaller = program_of(conformance, path, *drawn, "--seed=5", "--outstanding=1", "--count=1")
    assert trees(smaller) == trees(one)
    assert values(smaller) != values(one)
    # a buffer without gaps between its elements
    dense = ("--call=put", "--layout_origin=plain", "--window=exact")
    one, other = (program_of(conformance, path, *dense, f"--seed={seed}") for seed in (5, 6))
    assert values(one) != values(other)


# ---- Cells as C programs ----


def compiled(environment, path):
    """Compile a program without warnings; return the command that launches it on two ranks."""
    program = path.with_suffix("")
    subprocess.run(
        [environment.document["compilers"]["c"], *STRICT, path, "-o", program],
        env=environment.variables(),
        check=True,
    )

    def run(variables=None):
        return subprocess.run(
            [*environment.launch_line(2), program],
            env=environment.variables() | (variables or {}),
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.mark.one_case("options")
@pytest.mark.parametrize(
    "options",
    [
        *PROGRAMS[:IN_MAKE_TEST],
        *(pytest.param(options, marks=OF_CI) for options in PROGRAMS[IN_MAKE_TEST:]),
    ],
    ids=lambda options: "-".join(option.partition("=")[2] for option in options),
)
def test_a_cell_as_a_program_of_its_own_is_right_too(conformance, environment, tmp_path, options):
    path = tmp_path / "program.c"
    program_of(conformance, path, *options)
    run = compiled(environment, path)()
    assert (run.returncode, run.stdout.strip()) == (0, "every byte is right"), run.stderr


@pytest.mark.first_mpi
def test_a_program_shows_without_the_harness_what_a_cell_found(
    conformance, environment, faulty, tmp_path
):
    path = tmp_path / "program.c"
    cell = "--cells=call=rget;synchronisation=lock_all_flush"
    program_of(conformance, path, cell, status="wrong_data", variables=faulty("late"))
    program = compiled(environment, path)
    wrong = program(faulty("late"))
    assert wrong.returncode != 0
    assert re.search(r"rank 0: result, byte \d+: found \d+, expected \d+", wrong.stdout)
    assert re.search(r"\d+ bytes are wrong", wrong.stdout)
    assert program().returncode == 0


def only_c(text):
    """Return a program without comments, white space, and changes that a formatter makes."""
    without_comments = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    joined = re.sub(r'"\s+"', "", without_comments)
    return re.sub(r"\s+|,(?=\s*\})", "", joined)


@pytest.mark.first_mpi
def test_the_programs_of_docs_defects_are_what_is_written_from_their_cells(conformance, tmp_path):
    programs = {
        path.name: path.read_text("utf-8")
        for path in DEFECTS.glob("*.c")
        if path.name not in WRITTEN_BY_HAND
    }
    cells = {name: re.search(r"call=\S+", text)[0] for name, text in programs.items()}
    lines = tmp_path / "cells.jsonl"
    options = (f"--cells={cell.replace(',', ';')}" for cell in cells.values())
    conformance.launch(*options, "--rounds=1", f"--cell-data={lines}")
    written_as_data = map(json.loads, lines.read_text("utf-8").splitlines())
    written = {one["cell"]: only_c(cell_program.program(one, [])) for one in written_as_data}
    differ = [name for name, cell in cells.items() if written[cell] != only_c(programs[name])]
    assert (len(programs), differ) == (20, [])


@pytest.mark.first_mpi
def test_data_of_a_cell_that_cannot_be_written_are_told_in_a_line(conformance, tmp_path):
    path = tmp_path / "none" / "cells.jsonl"
    run = conformance.launch("--call=put", f"--cell-data={path}")
    assert f"--cell-data: found {path}; expected a file that can be written" in run.stderr
