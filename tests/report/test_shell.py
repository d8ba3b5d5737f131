"""A report names the variables of its launches that no setting names."""

import json
import re

CAVEAT = "Run with variables that no setting names: FI_PROVIDER=tcp (mpich-5.0.2, default)."


def test_a_variable_that_ranks_had_stands_at_every_table(campaign_that_ran, tmp_path, called):
    # as if a module or a command of the site had set it
    for path in (tmp_path / "results/tiny").rglob("lines.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if line["type"] == "header":
                line["environment"]["FI_PROVIDER"] = "tcp"
        path.unlink()  # a link may lead to the campaign of other tests
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    results = tmp_path / "results/tiny"
    called("collect", campaign_that_ran, check=True)
    called("analyse", results, check=True)
    called("report", results, check=True)

    for page in (results / "report").glob("*.html"):
        text = page.read_text()
        tables = text.count('<p class="caption"') + text.count("<figcaption>")
        published = len(re.findall(r'id="caption-\w+_published"|<figure id="\w+_published"', text))
        assert tables - published == text.count(f'<strong class="caveat">{CAVEAT}</strong>') > 0
        assert CAVEAT in text.partition("<main")[0]  # also at the top of the page
    assert "FI_PROVIDER=tcp" in (results / "report/provenance.csv").read_text()


def test_a_report_of_launches_without_such_variables_has_no_caveat(real_results):
    folder = real_results / "report"
    pages = list(folder.glob("*.html"))
    assert pages
    for page in pages:
        assert 'class="caveat"' not in page.read_text()
    assert "variables that no setting names,none" in (folder / "provenance.csv").read_text()
