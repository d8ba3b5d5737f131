"""A site's own ReFrame configuration with a container platform: the image has the kernels."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.timeout(3600)  # builds images

#: The host's MPI starts a container for each rank, as a site's launcher does. The machine's kernel
#: does not let one container read another's memory, so MPICH is told not to try.
CONFIGURATION = """
site_configuration = {{
    "systems": [{{
        "name": "box", "descr": "a machine", "hostnames": [".*"],
        "partitions": [{{
            "name": "node", "scheduler": "local", "launcher": "mpirun", "max_jobs": 1,
            "environs": ["in_image", "no_image"], "prepare_cmds": ["export PATH={programs}:$PATH"],
            "container_platforms": [{{"type": "Apptainer"}}],
        }}],
    }}],
    "environments": [
        {{
            "name": "in_image", "extras": {{"onesided_image": "{image}"}},
            "env_vars": [["MPIR_CVAR_CH4_CMA_ENABLE", "0"]],
        }},
        {{"name": "no_image", "extras": {{"onesided_image": "/nowhere.sif"}}}},
    ],
}}
"""


@pytest.fixture(scope="module")
def site_run(person, images):
    """Run the smoke test with both environments; return the folder and ReFrame's output."""
    image = images("mpich")
    person.do("onesided", "environments", "mpich-5.0.2")
    programs = person.checkout / "build/environments/mpich-5.0.2/prefix/bin"
    folder = person.new_folder("site")
    person.do("touch", folder / "site.py", cwd="/")
    (folder / "site.py").write_text(CONFIGURATION.format(image=image, programs=programs))
    words = ["reframe", f"--config-file={folder / 'site.py'}", "--tag=smoke", "--run"]
    words += [f"--checkpath={person.checkout / 'reframe_checks/shared_counter.py'}"]
    words += ["--filter-expr=setting == 'default' and thread_level == 'single'"]
    words += [f"--prefix={folder / 'reframe'}", f"--report-file={folder / 'report.json'}"]
    return folder, person.call(*words).stdout


def test_ranks_in_containers_of_the_platform_are_one_world_with_right_data(site_run, person):
    folder, printed = site_run
    [lines] = folder.glob("reframe/output/box/node/in_image/*/lines.jsonl")
    header, *rest = map(json.loads, lines.read_text().splitlines())
    assert header["launch_model"] == "hybrid"
    assert header["container"], printed
    assert header["ranks"] == 2
    results = [line for line in rest if line["type"] == "result"]
    assert results
    assert all(result["status"] == "ok" for result in results)


def test_an_image_that_is_not_there_is_said_in_a_line(site_run):
    _, printed = site_run
    reasons = [line for line in printed.splitlines() if "Reason: " in line]
    assert any("no_image" in printed and "/nowhere.sif" in line for line in reasons), printed
