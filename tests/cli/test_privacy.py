"""No id of a sample reaches a page without values, a record, a manifest or a statistics file."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import platform
import re
import subprocess
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from commands import environment, executable, inside
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

N, K = 14, 8
IDS = st.lists(
    st.text("BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz", min_size=7, max_size=11),
    min_size=N + 2, max_size=N + 2, unique_by=str.casefold,
)  # fmt: skip
LAYOUTS = ("rows", "columns", "rows by id", "columns by id", "labels in the table", "classes in the table")


def write(layout, ids, folder):
    """Write a table and a label file with ids in all places; return the options that read them."""
    known, strangers = ids[:N], ids[N:]
    rng = np.random.default_rng(5)
    values = rng.normal(size=(N, K)).round(3)
    values[N // 2 :, :2] += 4.0
    values[2, 3] = 40.0
    groups = ["a"] * (N // 2) + ["b"] * (N // 2)
    genes = [f"gene{j}" for j in range(K)]
    if layout.startswith("columns"):
        lines = [",".join(["gene", *known])] + [
            ",".join([g, *map(str, values[:, j])]) for j, g in enumerate(genes)
        ]
    else:
        head = ["who", *(["stage"] if layout == "labels in the table" else []), *genes]
        cells = [[who, *([group] if "stage" in head else []), *map(str, row)]
                 for who, group, row in zip(known, groups, values, strict=True)]  # fmt: skip
        lines = [",".join(row) for row in (head, *cells)]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    listed = [
        *zip(known[:-1], groups[:-1], strict=True),
        (known[-1].swapcase(), "b"),
        *((s, "a") for s in strangers),
    ]
    (folder / "who.csv").write_text("id,stage,name\n" + "".join(f"{who},{group},{who}\n" for who, group in listed))
    by_id = f"early={','.join(known[1:6])}; late={','.join(known[7:12])}"
    ignored = ["--ignore", known[0], "--ignore", known[6]] if layout.startswith("columns") else []
    return {
        "rows": ["-l", "who.csv:stage"],
        "columns": ["-l", "who.csv:stage", *ignored],
        "rows by id": ["-l", "who.csv:name", "-c", by_id],
        "columns by id": ["-l", "who.csv:name", "-c", by_id, *ignored],
        "labels in the table": ["-l", "stage", "--id-column", "who"],
        "classes in the table": ["-l", "who", "-c", by_id],
    }[layout]


def texts(value):
    """All texts inside JSON, with what they hold in base64."""
    if isinstance(value, dict):
        return [text for key, each in value.items() for text in (key, *texts(each))]
    if isinstance(value, list):
        return [text for each in value for text in texts(each)]
    if not isinstance(value, str):
        return []
    try:
        content = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return [value]
    found = [value, content.decode("latin-1")]
    with contextlib.suppress(zlib.error):
        found.append(zlib.decompress(content, 47).decode("latin-1"))
    return found


def everything(path):
    """All texts of a file: its bytes, JSON in it, and the columns and metadata of a Parquet file."""
    content = path.read_bytes()
    found = [content.decode("latin-1"), content.decode("utf-8", "replace")]
    if path.suffix == ".parquet":
        found += map(str, pl.read_parquet(path).to_dict(as_series=False).items())
        found += [
            part.decode("latin-1") for pair in (pq.read_metadata(path).metadata or {}).items() for part in pair
        ]
    elif path.suffix == ".json":
        found += texts(json.loads(content))
    else:
        for part in re.findall(r"<script[^>]*>(\s*[\[{].*?)</script>", found[1], re.DOTALL):
            found += texts(json.loads(part))
    return found


@pytest.mark.filterwarnings("ignore::bayesieve.BayesieveWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],
)  # fmt: skip
@given(ids=IDS)
def test_no_id_leaves_the_house(layout, ids, capfd, monkeypatch):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        monkeypatch.chdir(folder)
        options = write(layout, ids, folder)

        def run(*arguments):
            result = inside(capfd, monkeypatch, *arguments)
            assert result.code == 0, result.err

        common = ("t.csv", *options, "-q")
        run("screen", *common, "-p", "0.3", "--fragility", "--out", "r.parquet", "--report", "screen.html",
            "--report-values", "0", "--manifest", "m.json")  # fmt: skip
        run("screen", *common, "-p", "0.3", "--fragility", "--out", "r.csv", "--manifest", "all.json")
        run("report", "r.parquet", "-q", "--report-values", "0", "--out", "stored.html")
        run("report", "r.csv", "--manifest", "all.json", "-q", "--report-values", "0", "--out", "both.html")
        run("report", "r.csv", "-q", "--report-values", "0", "--out", "beside.html")
        metadata = pl.read_parquet_metadata("r.parquet")["bayesieve"].casefold()
        assert not [who for who in ids if who.casefold() in metadata]  # only the column of culprits names samples
        run("stats", *common, "--min-cell", "0", "--out", "s.stats.parquet")
        assert any(ids[1] in text for text in everything(folder / "t.csv") + everything(folder / "who.csv"))
        for file in (
            "screen.html",
            "stored.html",
            "both.html",
            "m.json",
            "all.json",
            "s.stats.parquet",
            "r.csv.json",
            "beside.html",
        ):
            held = "\n".join(everything(folder / file)).casefold()
            assert "gene1" in held or file.endswith(".json")
            leaked = [who for who in ids if who.casefold() in held]
            assert not leaked, (file, leaked)
        check_manifest(
            json.loads((folder / "m.json").read_text(encoding="utf-8")), layout, run, capfd, monkeypatch
        )


def check_manifest(content, layout, run, capfd, monkeypatch):
    """What is hidden is counted, and such a run is not repeated from its manifest; any other is."""
    hidden = {name: entry["n"] for name, entry in content.get("hidden", {}).items()}
    wanted = {"ignore": 2} if layout.startswith("columns") else {}
    wanted |= {"classes": 10} if "by id" in layout or layout == "classes in the table" else {}
    assert hidden == wanted
    if hidden:
        assert "--ignore" in content["hidden_note"]
        refused = inside(capfd, monkeypatch, "report", "m.json", "-q", "--out", "again.html")
        assert refused.code == 2
        assert "may name samples" in refused.said
    else:
        run("report", "m.json", "-q", "--report-values", "0", "--out", "again.html")


def test_columns_of_samples_in_rows_are_named(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = write("rows", [f"Person{k:03}x" for k in range(N + 2)], tmp_path)
    done = inside(
        capfd, monkeypatch, "screen", "t.csv", *options, "--ignore", "gene7", "-q", "--manifest", "m.json"
    )
    assert done.code == 0, done.err
    content = json.loads(Path("m.json").read_text(encoding="utf-8"))
    assert content["settings"]["ignore"] == ["gene7"]
    assert "hidden" not in content


PERSON, FOLDER = "qzxuserqzx", "qzxfolderqzx"


def unpacked(path):
    """All texts of a file, those of an archive one by one."""
    if not zipfile.is_zipfile(path):
        return everything(path)
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name).decode("latin-1") for name in archive.namelist()] + archive.namelist()


def test_no_sample_folder_or_user_leaves_the_house_by_absolute_paths(tmp_path):
    """Files that are handed on name neither where the data were nor whose they are."""
    folder, work = tmp_path / FOLDER, tmp_path / "elsewhere"
    folder.mkdir()
    work.mkdir()
    ids = [f"qzxpatient{i:03d}" for i in range(N + 2)]
    write("rows", ids, folder)
    home = environment(USER=PERSON, LOGNAME=PERSON, USERNAME=PERSON, HOME=str(folder))

    def run(*arguments):
        done = subprocess.run(
            [executable(), *arguments], cwd=work, env=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr

    labelled = ("-l", f"{folder / 'who.csv'}:stage", "--shuffles", "2")
    for ending in ("csv", "parquet", "json", "xlsx"):
        more = ("--report", f"{ending}.html", "--report-values", "0") if ending in ("csv", "xlsx") else ()
        targets = ("--out", f"r.{ending}", "--manifest", str(work / f"m-{ending}.json"), *more)
        run("screen", str(folder / "t.csv"), *labelled, *targets, "-q")
    run("stats", str(folder / "t.csv"), *labelled[:2], "--min-cell", "0", "--out", "s.parquet", "-q")
    run("figures", str(work / "r.csv"), "--out", "figures", "--format", "png,svg", "-q")
    written = [each for each in work.rglob("*") if each.is_file()]
    assert len(written) > 14
    private = [*ids, FOLDER, PERSON, str(tmp_path).casefold()]
    private += [name for name in [platform.node().casefold()] if len(name) > 5]
    for file in written:
        held = "\n".join(unpacked(file)).casefold()
        assert not [name for name in private if name in held], file.name
    record = json.loads((work / "m-csv.json").read_text())
    assert record["settings"]["table"] == "t.csv"
    assert record["settings"]["labels"] == "who.csv:stage"
