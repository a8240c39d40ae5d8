"""Modules become one script: in the order of their imports, and only if one function can hold them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bayesieve.report import page as bundling
from bayesieve.report.page import bundle, script

SCRIPTS = Path(bundling.__file__).parent / "scripts"
TYPES = "types"  # holds types for the checks and nothing else

SOUND = {
    "main": '// @ts-check\nimport { twice } from "./sums.js";\nimport {\n  ONE,\n  two,\n} from "./parts.js";\n\n'
    '/** @import { Payload } from "./types.js" */\n\n'
    "function start() {\n  return twice(ONE) + two();\n}\n\nstart();\n",
    "sums": 'import { two } from "./parts.js";\n\nexport function twice(x) {\n  return two() * x;\n}\n',
    "parts": "export const ONE = 1;\nexport async function later() {}\n\n"
    "export function two() {\n  return 2;\n}\n",
}


def changed(**modules):
    return {**SOUND, **modules}.__getitem__


def test_each_module_follows_those_it_imports_from():
    whole = bundle("main", SOUND.__getitem__)
    assert whole == (
        '"use strict";\n(() => {\n'
        "const ONE = 1;\nasync function later() {}\n\nfunction two() {\nreturn 2;\n}\n\n"
        "\nfunction twice(x) {\nreturn two() * x;\n}\n\n"
        "\n\nfunction start() {\nreturn twice(ONE) + two();\n}\n\nstart();\n"
        "\n})();\n"
    )


def test_comments_and_types_stay_at_home_but_texts_do_not_change():
    text = (
        "// first\n/**\n * Doc of a * function.\n */\nfunction main(/** @type {number} */ x) {\n"
        '  // why\n  return x / 2 + " // no comment"; // behind\n}\nmain(/** @type {any} */ (3));\n'
    )
    known = 'function main(x) {\nreturn x / 2 + " // no comment"; // behind\n}\nmain((3));\n'
    assert bundle("main", {"main": text}.__getitem__) == f'"use strict";\n(() => {{\n{known}\n}})();\n'
    assert "/**" not in script()


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"parts": 'import { twice } from "./sums.js";\n'}, r"circle: sums.js -> parts.js -> sums.js"),
        ({"parts": 'import { two } from "./parts.js";\n'}, r"circle: parts.js -> parts.js"),
        ({"parts": SOUND["parts"].replace("export const", "const")}, r"main.js imports ONE, which parts.js"),
        ({"parts": "export const ONE = 1;\n"}, r"sums.js imports two, which parts.js does not export"),
        ({"sums": SOUND["sums"] + "const ONE = 2;\n"}, r"parts.js and sums.js both declare ONE"),
        ({"sums": SOUND["sums"] + "function two() {}\n"}, r"parts.js and sums.js both declare two"),
        ({"sums": SOUND["sums"] + "let start = 0;\n"}, r"sums.js and main.js both declare start"),
        ({"sums": SOUND["sums"].replace("{ two }", "{ two as pair }")}, r"sums.js imports two as pair"),
    ],
)
def test_what_one_function_cannot_hold_is_refused(modules, message):
    with pytest.raises(ValueError, match=message):
        bundle("main", changed(**modules))


@pytest.mark.parametrize(
    "line",
    [
        'import two from "./parts.js";',
        'import * as parts from "./parts.js";',
        'import "./parts.js";',
        'import { two } from "../parts.js";',
        'import { two } from "parts";',
        "export default two;",
        "export { two };",
        'export * from "./parts.js";',
        "var old = 1;",
        "const { a, b } = two();",
        "let [c] = [1];",
        'const parts = import("./parts.js");',
    ],
)
def test_other_ways_to_write_it_are_refused(line):
    with pytest.raises(ValueError, match=r"sums.js: cannot bundle .*" + re.escape(line.split(" = ")[-1][:12])):
        bundle("main", changed(sums=f"{SOUND['sums']}{line}\n"))


def test_a_module_that_is_not_there_is_an_error():
    with pytest.raises(KeyError, match="missing"):
        bundle("main", changed(sums='import { a } from "./missing.js";\n'))


def test_every_module_of_the_report_is_used_and_none_in_a_circle():
    texts = {path.stem: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
    needs = {
        name: set(re.findall(r'^import \{[^}]*\} from "\./(\w+)\.js";$', text, re.MULTILINE))
        for name, text in texts.items()
    }
    assert set.union(*needs.values()) == set(texts) - {"main", "groups_page", TYPES}
    left = dict(needs)
    while free := [name for name, wants in left.items() if not wants & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}, "these import each other"
    assert all(text.startswith("// @ts-check\n") for text in texts.values())


def test_the_types_hold_no_code():
    text = (SCRIPTS / f"{TYPES}.js").read_text(encoding="utf-8")
    code = re.sub(r"/\*\*.*?\*/|^//.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert code.split() == ["export", "{};"]


def test_nothing_of_modules_is_left_in_the_script():
    assert not re.search(r"^\s*(?:import|export)\b", script(), re.MULTILINE)
    assert "@import" not in script()


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on the path")
def test_the_bundle_runs(tmp_path):
    told = changed(main=SOUND["main"].replace("start();\n", "console.log(start());\n"))
    (tmp_path / "whole.js").write_text(bundle("main", told), encoding="utf-8")
    done = subprocess.run(["node", "whole.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "4\n"
