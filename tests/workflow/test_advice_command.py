"""Claims about `onesided advice`: a file's variables are set, and its claims run again."""

from __future__ import annotations

import pytest

from onesided import cli

MPI = "mpich-5.0.2"
CELL = (
    "operation=put,flavor=create,synchronisation=lock_all_flush,data=contiguous,size_bytes=8,"
    "target_state=computes,probe_interval_us=100"
)
# through UCX within a node, too, a put reads and writes the other rank's memory itself
VARIABLES = "export MPIR_CVAR_CH4_NETMOD=ucx\nexport MPIR_CVAR_NOLOCAL=1\n"


@pytest.fixture
def advice_file(tmp_path, ready_environment):
    """Return a function that writes an advice file with one claim about one cell."""
    ready_environment(MPI)

    def write(verdict, setting="ucx", variables=VARIABLES, environment=MPI, cell=CELL):
        path = tmp_path / f"{environment}.sh"
        test = f"ProgressSettings %setting={setting} %thread_level=single %ranks=2"
        path.write_text(
            f"# environment: {environment}\n{variables}# claim: {test} {cell} {verdict}\n"
        )
        return path

    return write


def test_a_variable_that_makes_an_operation_independent_is_sourced_and_the_claim_holds(
    advice_file, capsys
):
    assert cli.main(["advice", str(advice_file("independent"))]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("independent: holds")


def test_without_its_variable_the_same_claim_does_not_hold(advice_file, capsys):
    path = advice_file("independent", variables="")
    assert cli.main(["advice", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("independent: does not hold: waits")


def test_a_claim_of_the_default_setting_is_run_without_the_variables(advice_file, capsys):
    assert cli.main(["advice", str(advice_file("waits", setting="default"))]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("waits: holds")


def test_a_cell_that_the_kernel_does_not_know_is_undecided_and_does_not_hold(advice_file, capsys):
    path = advice_file("independent", cell=CELL.replace("=put", "=push"))
    assert cli.main(["advice", str(path)]) == 1
    assert "does not hold: undecided" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "no claim"), ("# environment: nompi-1\n# claim: T a=1 waits\n", "nompi-1")],
)
def test_a_file_that_is_no_advice_is_one_line(tmp_path, capsys, content, said):
    path = tmp_path / "advice.sh"
    path.write_text(content)
    assert cli.main(["advice", str(path)]) == 2
    message = capsys.readouterr().err
    assert said in message and message.count("\n") == 1
    assert cli.main(["advice", str(tmp_path / "none.sh")]) == 2
