"""Settings: every family has a value or a reason, and a fault in the file gives one clear line."""

import copy
import re

import pytest
import yaml

from onesided.environments import declarations, settings
from onesided.system import documents, paths
from onesided.system.errors import InputError

FAMILIES = ("mpich", "openmpi", "impi")
README = paths.project_root() / "README.md"
DECLARED = yaml.safe_load((paths.config_dir() / "settings.yaml").read_text("utf-8"))


@pytest.mark.parametrize("setting", DECLARED)
def test_every_setting_has_a_value_or_a_reason_for_every_family(setting):
    for name, declaration in declarations.declared().items():
        value = settings.value(setting, declaration.family, declaration.version)
        plain = setting == "default" or settings.spans_hosts(setting)
        assert value.variables or value.unavailable or plain, name
        assert not (value.variables and value.unavailable), name
        assert not value.variables or value.transport, f"{name}: nothing proves the setting"


def test_the_settings_that_were_asked_for_are_there():
    assert {"default", "async_thread", "tcp", "no_shm", "ofi", "ucx", "osc_rdma", "osc_sm",
            "osc_ucx", "osc_pt2pt", "fabrics_shm"} <= set(settings.names())  # fmt: skip
    available = {
        family: [
            name for name in DECLARED if settings.value(name, family, version).unavailable is None
        ]
        for family, version in (("mpich", "5.0.2"), ("openmpi", "5.0.11"), ("impi", "2021.18.1"))
    }
    assert {"ofi", "ucx"} <= set(available["mpich"])
    assert {"osc_rdma", "osc_sm", "osc_ucx"} <= set(available["openmpi"])
    assert {"fabrics_shm", "fabrics_shm_ofi"} <= set(available["impi"])


def test_checks_are_made_for_the_settings_that_were_chosen_and_for_all_without_a_choice(
    monkeypatch,
):
    monkeypatch.delenv(settings.CHOICE_VARIABLE, raising=False)
    assert settings.chosen() == list(DECLARED)
    monkeypatch.setenv(settings.CHOICE_VARIABLE, "ucx,default")
    assert settings.chosen() == ["default", "ucx"]
    monkeypatch.setenv(settings.CHOICE_VARIABLE, "default,uxc")
    with pytest.raises(InputError, match="ONESIDED_SETTINGS: found uxc; expected one of default, "):
        settings.chosen()


def test_no_two_settings_are_the_same_for_an_mpi():
    for declaration in declarations.declared().values():
        values = [
            settings.value(name, declaration.family, declaration.version)
            for name in DECLARED
            if not settings.spans_hosts(name)
        ]
        variables = [tuple(sorted(v.variables.items())) for v in values if v.unavailable is None]
        assert len(set(variables)) == len(variables), declaration.name


def test_a_series_has_a_value_of_its_own():
    assert settings.value("osc_pt2pt", "openmpi", "4.1.8").variables
    assert settings.value("osc_pt2pt", "openmpi", "4.1").variables
    assert "5.0" in settings.value("osc_pt2pt", "openmpi", "5.0.11").unavailable
    assert settings.value("osc_pt2pt", "openmpi", "4.10.1").unavailable


def test_a_family_that_no_setting_knows_gets_the_reason():
    assert "declares nothing for other" in settings.value("default", "other", "1").unavailable


def faulty(change):
    document = copy.deepcopy(DECLARED)
    change(document["tcp"]["families"]["mpich"])
    return document


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value: value.update(unavailable="no"), "tcp.families.mpich"),
        (lambda value: value.pop("variables"), "tcp.families.mpich"),
        (lambda value: value["variables"].update(A=1), "tcp.families.mpich.variables.A"),
        (lambda value: value["transport"].update(net="x"), "tcp.families.mpich.transport.net"),
        (lambda value: value["transport"].update(shm="no"), "tcp.families.mpich.transport.shm"),
        (lambda value: value.update(transport={}), "tcp.families.mpich.transport"),
        (lambda value: value.update(serie={}), "tcp.families.mpich"),
        (lambda value: value.update(series={"x": {"variables": {}}}), "tcp.families.mpich.series"),
        (
            lambda value: value.update(series={"4": {"variables": {}, "series": {}}}),
            "tcp.families.mpich.series.4",
        ),
    ],
)
def test_a_fault_is_one_line_that_names_the_field(change, said):
    with pytest.raises(InputError) as caught:
        documents.check(faulty(change), "settings", "settings.yaml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unavailable_setting_asks_for_no_transport():
    document = copy.deepcopy(DECLARED)
    document["ofi"]["families"]["openmpi"]["transport"] = {"netmod": "ofi"}
    with pytest.raises(InputError, match=r"ofi\.families\.openmpi\.transport"):
        documents.check(document, "settings", "settings.yaml")


def test_the_readme_has_each_setting_and_the_mpis_that_it_is_for():
    families = {"MPICH": "mpich", "Open MPI": "openmpi", "Open MPI 4.1": "openmpi"}
    families["Intel MPI"] = "impi"
    told = {}
    rows = re.findall(r"^\| (`.*`) \| (.*?) \| .* \|$", README.read_text("utf-8"), re.M)
    for names, mpis in rows:
        for name in re.findall(r"`(\w+)`", names):
            told[name] = {families[one] for one in mpis.split(", ") if one in families}
    declared = {
        name: {
            family
            for family, values in setting["families"].items()
            if "variables" in values or "series" in values
        }
        for name, setting in DECLARED.items()
    }
    # nothing is set by default
    assert told == {**declared, "default": set()}
