"""The chart and the tables of figures are what docs/figures.json says."""

import re
import xml.etree.ElementTree as ElementTree

import generate_figures
import pytest

FIGURES = generate_figures.read_figures()
TABLE = {
    "columns": ["net", "ours", "theirs"],
    "rows": [["a", "1.0", "2.00"], ["b", "8", "4"], ["c", None, "3"]],
    "ratios": [["ours", "theirs"]],
}


@pytest.mark.parametrize("path", generate_figures.generated(FIGURES), ids=lambda path: path.name)
def test_file_is_up_to_date(path):
    message = "run tools/generate_figures.py"
    assert path.read_text() == generate_figures.generated(FIGURES)[path], message


def test_every_table_stands_on_a_page():
    texts = "\n".join(page.read_text() for page in generate_figures.PAGES)
    marked = [match[2] for match in generate_figures.MARKED.finditer(texts)]
    assert sorted(marked) == sorted(["headlines", *FIGURES["tables"]])


def test_a_table_has_ratios_and_their_geometric_mean():
    assert generate_figures.markdown(TABLE).splitlines() == [
        "| net | ours | theirs | ours / theirs |",
        "| --- | --- | --- | --- |",
        "| a | 1.0 | 2.00 | 0.50 |",
        "| b | 8 | 4 | 2.00 |",
        "| c |  | 3 |  |",
        "| geometric mean |  |  | **1.00** |",
    ]


def test_headlines_name_mean_and_range():
    line = {"table": "t", "ours": "ours", "theirs": "theirs", "where": "here", "rival": "them"}
    page = generate_figures.headlines({"headlines": [line], "tables": {"t": TABLE}})
    assert page.splitlines()[-1] == "| here | them | **1.00 of its time (0.50 to 2.00)** |"


def test_a_mark_without_a_table_is_refused():
    with pytest.raises(ValueError, match=r"page\.md: docs/figures\.json has no table 'speed'"):
        generate_figures.with_tables("<!-- figures: speed -->\n<!-- end of figures -->", FIGURES, "page.md")


def test_the_chart_draws_every_net_to_scale():
    tree = ElementTree.fromstring(generate_figures.chart(FIGURES))
    bars = [float(bar.get("width")) for bar in tree.iter("{http://www.w3.org/2000/svg}rect")][1:]
    expected = []
    for part in FIGURES["chart"]:
        table = FIGURES["tables"][part["table"]]
        expected += generate_figures.ratios(table, part["ours"], part["theirs"]).values()
    assert [round(bar / generate_figures.SCALE, 2) for bar in bars] == [round(ratio, 2) for ratio in expected]
    texts = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert len([text for text in texts if re.fullmatch(r"[\d.]+ / [\d.]+ ms", text)]) == len(bars)
