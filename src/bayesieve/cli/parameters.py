"""How options are described, parsed and read from a file of settings."""

from __future__ import annotations

import contextlib
import enum
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from bayesieve.cli.console import endings
from bayesieve.utils import OptionError, memory_bytes, printable

INPUT, COMPARED, CHOICE, OUTPUT, TALK = "The table", "What is compared", "Prior", "Output", "Talk"
LIST = "Rule of the list"
REQUIRED = Parameter.empty
_USAGE_ERROR: Any = typer.BadParameter.__base__  # of click, or of Typer's own copy of it
Run = Callable[[dict[str, Any]], None]


def with_options(*parameters: Parameter) -> Callable[[Run], Callable[..., None]]:
    """Make a command of a function that takes all its options as plain values by name."""

    def decorate(function: Run) -> Callable[..., None]:
        @functools.wraps(function)
        def command(**options: Any) -> None:
            with endings():
                function(plain_params(options))

        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {}
        return command

    return decorate


class _Flags:
    """A command whose flags, ``--help`` among them, have no type and lists that of an item.

    It tells mistakes without obeying them.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            kind: Any = getattr(param, "type_descriptor", None)
            if getattr(kind, "is_list", False):
                item = get_args(kind.annotation)[0].__name__.lower()
                param.display_type = functools.partial(_same, f"<{item}>")
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _printable_mistakes():
            return list(super().parse_args(ctx, args))  # type: ignore[misc]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        with _printable_mistakes():
            return super().resolve_command(ctx, args)  # type: ignore[misc]


@contextlib.contextmanager
def _printable_mistakes() -> Iterator[None]:
    """Show escape sequences in arguments instead of sending them to the terminal."""
    try:
        yield
    except _USAGE_ERROR as error:
        mistake: Any = error
        mistake.message = printable(mistake.message)
        raise


def _same(text: str, ctx: Any) -> str:
    """Return a text, whatever the command."""
    del ctx
    return text


class Command(_Flags, TyperCommand):
    """A command; see :class:`_Flags`."""


class Group(_Flags, TyperGroup):
    """The commands; see :class:`_Flags`."""


def option(name: str, kind: Any, default: Any, panel: str, text: str, *short: str, **more: Any) -> Parameter:
    """Describe an option of that name, in its panel of the help; ``short`` are further spellings."""
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    if {int, float}.intersection((kind, *get_args(kind))):
        more.setdefault("metavar", "N")
    choices = _choices(kind)
    if choices:  # long lists of words would take the room of the option itself
        more.setdefault("metavar", "WORD")
        text = text if all(word in text for word in choices) else f"{text.rstrip('.')}: {', '.join(choices)}."
    described = typer.Option(flag, *short, help=text, rich_help_panel=panel, **more)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described])


def argument(name: str, kind: Any, text: str, default: Any = REQUIRED, **more: Any) -> Parameter:
    """Describe an argument; without a default it has to be given."""
    described = typer.Argument(help=text, show_default=False, **more)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described])


def _choices(kind: Any) -> list[str]:
    """Words that an option takes, none if it takes anything else."""
    kinds = [each for each in (kind, *get_args(kind)) if isinstance(each, type) and issubclass(each, enum.Enum)]
    return [str(word.value) for each in kinds for word in each]


def words(*choices: str) -> Any:
    """Return the type of an option that takes one of a few words."""
    make: Any = enum.StrEnum
    return make("Word", {choice.replace("-", "_"): choice for choice in choices})


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as plain values (texts, numbers, lists), whatever the parser made of them."""
    return {name: _plain(value) for name, value in params.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def parse_memory(value: str) -> int:
    """Read an amount of memory: 300MB, 2GB, 512MiB, or a number of bytes."""
    try:
        return memory_bytes(str(value))
    except OptionError as error:
        raise typer.BadParameter(error.message.render(command=True)) from None


_JOINED = {"methods": ",", "top": ","}  # lists in a file that are texts on the command line


def read_config(ctx: typer.Context, param: Any, path: Path | None) -> Path | None:
    """Take the options that the command line does not give from a TOML file; dashes are as good as underscores."""
    del param
    if path is None or ctx.resilient_parsing:
        return path
    from bayesieve.screening import ScreenSpec  # noqa: PLC0415 - only when asked for
    from bayesieve.utils import read_toml  # noqa: PLC0415

    known = {each.name: each for each in ctx.command.params if each.name not in (None, "config", "config_out")}
    settings = {key.replace("-", "_"): value for key, value in read_toml(path).items()}
    settings.pop("bayesieve_version", None)
    _check_settings(path, settings, known, ctx.info_name or "")
    try:
        settings |= ScreenSpec.read_options(settings)
    except OptionError as error:
        raise OptionError(f"{path}: ", *error.message.text, hint=error.message.hint) from None
    for name, value in settings.items():
        if isinstance(value, list) and name in _JOINED:
            settings[name] = value = _JOINED[name].join(map(str, value))  # noqa: PLW2901 - as on the command line
        try:
            known[name].process_value(ctx, value)
        except typer.BadParameter as error:
            raise OptionError(f"{path}: {name} = {value!r}: {error.message.rstrip('.')}.") from None
    ctx.default_map = {**(ctx.default_map or {}), **settings}
    return path


def _check_settings(path: Path, settings: dict[str, Any], known: Mapping[str, Any], command: str) -> None:
    """Raise if settings are of another command, have another name than an option, or are no plain values."""
    from bayesieve.utils import did_you_mean  # noqa: PLC0415 - only when asked for

    of = settings.pop("command", command)
    if of != command:
        raise OptionError(f"{path} holds settings of bayesieve {of}, not of bayesieve {command}.")
    for name, value in settings.items():
        if name not in known:
            raise OptionError(
                f"{path}: there is no setting {name!r}.{did_you_mean(name, known)} Settings are called as the "
                "options of the command are, without the leading dashes."
            )
        if isinstance(value, dict):
            raise OptionError(f"{path}: {name!r} is a table; settings are plain values.")
