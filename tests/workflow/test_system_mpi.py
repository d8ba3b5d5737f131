"""A campaign with Debian's MPIs, each with its own launcher: `provider: system`."""

import shutil

import polars as pl
import pytest

DEBIAN = {"mpich-debian": "MPICH Version", "openmpi-debian": "Open MPI v"}


@pytest.mark.slow
def test_a_campaign_measures_with_both_of_debians_mpis(
    campaign_file, onesided, tmp_path, monkeypatch
):
    missing = [name for name in ("mpich", "openmpi") if shutil.which(f"mpicc.{name}") is None]
    if missing:
        pytest.skip(f"Debian's {' and '.join(missing)} is not installed")
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    onesided("run", campaign_file(environments=list(DEBIAN), select={"tags": ["smoke"]}))
    cells = pl.read_parquet(tmp_path / "results/tiny/cells.parquet")
    assert cells["status"].unique().to_list() == ["ok"]
    assert set(cells["family"]) == {"mpich", "openmpi"}
    for name, words in DEBIAN.items():
        own = cells.filter(pl.col("environment") == name)
        assert own.height > 0
        assert own["library_version"].str.starts_with(words).all()
        assert own["errors"].sum() == 0
    document = (tmp_path / "results/tiny/verdicts.json").read_text()
    assert '"unavailable"' not in document
