"""Studies as TOML: one file says what is compared on which data."""

from __future__ import annotations

import itertools
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from bayesieve.errors import FileError, OptionError
from bayesieve.rivals import rival
from bayesieve.study.design import Method, StudyDesign, parsed_rule
from bayesieve.utils import did_you_mean

_STUDY = tuple(each.name for each in fields(StudyDesign))
_METHOD = tuple(each.name for each in fields(Method))
_STEPS = ("from", "to", "step")


def read_design(path: str | os.PathLike[str]) -> StudyDesign:
    """Read a study; its name is that of the file unless it has one."""
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            settings = tomllib.load(file)
    except FileNotFoundError:
        raise FileError(f"There is no file {name}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{name} is not a TOML file: {error}.") from None
    except OSError as error:
        raise FileError(f"{name} cannot be read: {error.strerror or error}.") from None
    return design_from({"name": Path(path).stem, **settings}, name)


def design_from(settings: Mapping[str, Any], where: str) -> StudyDesign:
    """Build a study from plain values, or say what is wrong with them."""
    given = {key.replace("-", "_"): value for key, value in settings.items()}
    _check_names(given, _STUDY, where)
    absent = [key for key in ("sizes", "methods") if key not in given]
    if absent:
        raise OptionError(
            f"{where} does not say {' and '.join(absent)}. Look at bayesieve study figure-1b --list."
        )
    methods = given.pop("methods")
    if not isinstance(methods, list) or not all(isinstance(each, dict) for each in methods):
        raise OptionError(f"{where}: methods are tables, each under a line [[methods]].")
    _check_kinds(given, where)
    given["sizes"] = _sizes(given["sizes"], where)
    made = [_method(each, f"{where}, method {k + 1}") for k, each in enumerate(methods)]
    titles = [method.title for method in made]
    named = (replace(m, title=f"{m.title} ({m.name})") if titles.count(m.title) > 1 else m for m in made)
    return StudyDesign(methods=tuple(named), **given)


def _method(settings: Mapping[str, Any], where: str) -> Method:
    given = {key.replace("-", "_"): value for key, value in settings.items()}
    _check_names(given, _METHOD, where)
    if not isinstance(given.get("scores"), str):
        raise OptionError(f'{where} does not say where its scores come from, for example scores = "welch".')
    rule = given.get("rule", "top")
    plain = given["scores"].rpartition("/")[2].partition(":")[0].removesuffix(".py")
    counted = parsed_rule(rule)[0] == "top"
    given.setdefault("name", plain if counted else f"{str(rule).replace(':', '-')}-{plain}")
    if "title" not in given:
        own = ":" in given["scores"] or given["scores"].endswith(".py")  # not run merely to be listed
        title = plain if own else rival(given["scores"]).title
        given["title"] = title if counted else f"{title}, {str(rule).upper().replace(':', ' ')}"
    if given.get("sizes") is not None:
        given["sizes"] = _sizes(given["sizes"], where)
    return Method(**given)


def _sizes(given: Any, where: str) -> Any:
    """Numbers of samples from a list, or from the first, the last and the step."""
    if not isinstance(given, dict):
        return given
    if set(given) != set(_STEPS) or not all(type(value) is int for value in given.values()) or given["step"] < 1:
        raise OptionError(f"{where}: give sizes as a list, or as {{ from = 100, to = 1000, step = 100 }}.")
    return range(given["from"], given["to"] + 1, given["step"])


def _check_names(given: Iterable[str], known: tuple[str, ...], where: str) -> None:
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f" Known are {', '.join(known)}."
            raise OptionError(f"{where}: there is no setting {name!r}.{hint}")


def _check_kinds(given: Mapping[str, Any], where: str) -> None:
    kinds = {"name": str, "title": str, "data": str, "constants": dict, "raw": bool, "measures": list}
    words = {str: "a text", dict: "a table", bool: "true or false", list: "a list"}
    for name, kind in kinds.items():
        if name in given and not isinstance(given[name], kind):
            raise OptionError(f"{where}: {name} must be {words[kind]}, not {given[name]!r}.")


def design_text(design: StudyDesign) -> str:
    """Write a study as TOML, so that :func:`read_design` gives it back."""
    settings = design.to_dict()
    methods, constants = settings.pop("methods"), settings.pop("constants")
    lines = [_line(key, value) for key, value in settings.items()]
    lines += ["", "[constants]", *(_line(key, value) for key, value in constants.items())]
    for method in methods:
        lines += [
            "",
            "[[methods]]",
            *(_line(key, value) for key, value in method.items() if value not in ({}, [])),
        ]
    return "\n".join(lines) + "\n"


def _line(key: str, value: Any) -> str:
    if key == "sizes" and len(value) > 3:
        steps = {b - a for a, b in itertools.pairwise(value)}
        if len(steps) == 1:
            value = dict(zip(_STEPS, (value[0], value[-1], steps.pop()), strict=True))
    return f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if plain else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
