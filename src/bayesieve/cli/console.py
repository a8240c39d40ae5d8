"""Console output of commands: messages, progress and how a command ends; on standard error."""

from __future__ import annotations

import _thread
import contextlib
import json
import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bayesieve.utils import BayesieveWarning, Message, OptionError, printable

INTERRUPTED = "interrupted; files that were being written are as they were before."


class EndingError(BaseException):
    """An end that is no mistake: an interruption, or a reader that has seen enough.

    Parameters
    ----------
    code
        Exit code.
    message
        What to say, if anything.
    """

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code, self.message = code, message


@contextlib.contextmanager
def endings() -> Iterator[None]:
    """Turn an interruption and a closed pipe into an end of their own."""
    before, sys.unraisablehook = sys.unraisablehook, _interrupt_again
    try:
        yield
    except KeyboardInterrupt:
        raise EndingError(130, INTERRUPTED) from None
    except BrokenPipeError:  # the reader of standard output, such as head, has seen enough
        raise EndingError(0) from None
    except Exception as error:
        if _after_interruption(error):
            raise EndingError(130, INTERRUPTED) from None
        raise
    finally:
        sys.unraisablehook = before


def _interrupt_again(lost: Any) -> None:
    """Repeat a Ctrl-C that came while something was being cleared away, where Python can raise no exception."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        again = threading.Timer(0.01, _thread.interrupt_main)  # at once it would be lost here, too
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


def _after_interruption(error: BaseException | None) -> bool:
    """Whether an error arose from Ctrl-C: a compiled module interrupted while it loads raises ImportError."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def show(text: str, *, errors: bool = False, end: str = "\n") -> None:
    """Print a text, in which nothing is obeyed by a terminal; to standard error if it is about a run."""
    print(printable(text), file=sys.stderr if errors else sys.stdout, end=end, flush=True)


class _ToTalk(logging.Handler):
    """Messages of the library, such as that kernels are being compiled."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(logging.INFO)
        self._talk = talk

    def emit(self, record: logging.LogRecord) -> None:
        self._talk.say("note", record.getMessage())


@dataclass(slots=True)
class Talk:
    """Messages, warnings and progress.

    Parameters
    ----------
    quiet, verbose, json_log
        Nothing but errors; timings too; JSON lines instead of text.
    """

    quiet: bool = False
    verbose: bool = False
    json_log: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise OptionError("--quiet and --verbose contradict each other. Choose one.")
        warnings.showwarning = self._warn
        logger = logging.getLogger("bayesieve")
        logger.handlers[:] = [_ToTalk(self)]
        logger.propagate = False
        warnings.simplefilter("always", UserWarning)

    def say(self, event: str, text: str, **facts: Any) -> None:
        """Say something, with the facts behind it for the JSON log."""
        if self.json_log:
            self._line(event, text, facts)
        elif not self.quiet:
            show(text, errors=True)

    def detail(self, event: str, text: str, **facts: Any) -> None:
        """Say something that only ``--verbose`` and the JSON log show."""
        if self.json_log or self.verbose:
            self.say(event, text, **facts)

    def _line(self, event: str, text: str, facts: dict[str, Any]) -> None:
        line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "event": event, "message": text, **facts}
        show(json.dumps(line, default=str), errors=True)

    def warned(self, *, ids: bool = True) -> list[str]:
        """Return the warnings so far, in the words of the command line, with ids of samples or without."""
        return [message.render(command=True, ids=ids) for message in self.messages]

    def _warn(self, message: Warning | str, *_: Any, **__: Any) -> None:
        known = message.message if isinstance(message, BayesieveWarning) else Message((str(message),))
        self.messages.append(known)
        text = self.warned()[-1]
        if self.json_log:
            self._line("warning", text, {})
        elif not self.quiet:
            show(f"bayesieve: warning: {text}", errors=True)

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure how long something takes."""
        start = time.perf_counter()
        yield
        self.timings[name] = time.perf_counter() - start
        self.detail("timing", f"{name}: {self.timings[name]:.2f} s", seconds=self.timings[name])

    @contextlib.contextmanager
    def progress(
        self, what: str, *, counted: bool = False, share: bool = False
    ) -> Iterator[Callable[[int, int], None] | None]:
        """Show a bar while something is read (or counted, or done as a share), on a terminal only."""
        if self.quiet or self.json_log or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console  # noqa: PLC0415 - only on a terminal
        from rich.markup import escape  # noqa: PLC0415
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        amount: Any = MofNCompleteColumn() if counted else DownloadColumn()
        amount = TaskProgressColumn() if share else amount
        columns = TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(escape(printable(what)), total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
