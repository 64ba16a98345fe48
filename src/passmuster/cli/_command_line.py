"""Commands, their arguments and options: how they are declared, and how words of a command line are read.

For 35 options, with what every run imports already there, click takes 49 million instructions, argparse 29 and this 4,
of the 412 of the example run. Help texts and shell completion come from the same declarations, in `_help_text` and
`_completing`, which are imported when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from passmuster._problems import did_you_mean

Function = TypeVar("Function", bound=Callable[..., None])


class CommandLineError(Exception):
    """What is wrong with the words of a command line."""

    def __init__(self, message: str, command: Command | Group, path: str) -> None:
        super().__init__(message)
        self.command = command
        self.path = path


class Asked(Exception):
    """What a command is asked for instead of being run: its help text, or the version."""

    def __init__(self, option: Option, command: Command | Group, path: str) -> None:
        super().__init__()
        self.option = option
        self.command = command
        self.path = path


class Argument(Struct, frozen=True, kw_only=True):
    """What is given by its position."""

    key: str
    """The parameter of the command's function."""
    metavar: str
    """What usage lines show; in brackets if it may be left out."""
    choices: tuple[str, ...] = ()
    default: str | None = None
    many: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return not self.metavar.startswith("[")


class Option(Struct, frozen=True, kw_only=True):
    """What is given by its name."""

    key: str
    """The parameter of the command's function."""
    names: tuple[str, ...]
    """As they are typed: `-o`, `--output`."""
    help: str | Callable[[], str]
    metavar: str = ""
    choices: tuple[str, ...] = ()
    convert: Callable[[str], object] = str
    """Makes the value of the text; a `ValueError` says what was expected."""
    default: object = None
    required: bool = False
    multiple: bool = False
    is_flag: bool = False
    off_name: str = ""
    """The name that turns a flag off."""
    count: bool = False

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every name of it, with the one that turns it off."""
        return (*self.names, self.off_name) if self.off_name else self.names

    @property
    def takes_value(self) -> bool:
        """Whether a value follows the name."""
        return not (self.is_flag or self.count)

    @property
    def help_text(self) -> str:
        """What it does."""
        return self.help if isinstance(self.help, str) else self.help()


VERSION = Option(key="version", names=("-V", "--version"), is_flag=True, help="Show the version and exit.")
HELP = Option(key="help", names=("-h", "--help"), is_flag=True, help="Show this message and exit.")


class Command:
    """A function with its arguments and options; its docstring is the help text."""

    def __init__(self, name: str, function: Callable[..., None], summary: str = "") -> None:
        declared: list[Argument | Option] = vars(function).get("parameters", [])
        self.name = name
        self.text = function.__doc__ or ""
        self.summary = summary or first_sentence(self.text)
        self.arguments = tuple(one for one in declared if isinstance(one, Argument))
        self.options = (*(one for one in declared if isinstance(one, Option)), HELP)
        self._function = function

    @property
    def usage(self) -> str:
        """What follows the command in a usage line."""
        return " ".join(["[OPTIONS]", *(argument.metavar for argument in self.arguments)])

    def run(self, words: list[str], path: str) -> None:
        """Call the function with what was given; `path` is how the command itself was called."""
        self._function(**self.parse(words, path))

    def parse(self, words: list[str], path: str) -> dict[str, Any]:
        """The parameters of the function. Raises `Asked` and `CommandLineError`."""
        try:
            given, rest = split(self.options, words)
            if any(option is HELP for option, _, _ in given):
                raise Asked(HELP, self, path)
            return {**_option_values(self.options, given), **_argument_values(self.arguments, rest)}
        except ValueError as error:
            raise CommandLineError(str(error), self, path) from None


class Group:
    """A command that consists of other commands."""

    usage = "[OPTIONS] COMMAND [ARGS]..."
    arguments: tuple[Argument, ...] = ()

    def __init__(
        self,
        name: str,
        text: str,
        commands: Mapping[str, Command | Group] | None = None,
        options: tuple[Option, ...] = (HELP,),
    ) -> None:
        self.name = name
        self.text = text
        self.summary = first_sentence(text)
        self.options = options
        self._added: dict[str, Command | Group] = {}
        self.commands = self._added if commands is None else commands

    def subcommand(self, name: str, summary: str = "") -> Callable[[Callable[..., None]], Command]:
        """Make a command of a function, and add it."""

        def make(function: Callable[..., None]) -> Command:
            found = Command(name, function, summary)
            self._added[name] = found
            return found

        return make

    def run(self, words: list[str], path: str) -> None:
        """Run the command that the words begin with."""
        name, rest = self.parse(words, path)
        self.commands[name].run(rest, f"{path} {name}")

    def parse(self, words: list[str], path: str) -> tuple[str, list[str]]:
        """The name of the command that is called, and what is given to it. Raises `Asked` and `CommandLineError`."""
        if not words:
            raise CommandLineError("", self, path)
        try:
            given, rest = split(self.options, words, mixed=False)
            if given:
                raise Asked(given[0][0], self, path)
            if not rest:
                raise ValueError("Missing command")
            if rest[0] not in self.commands:
                raise ValueError(f"No such command '{rest[0]}'{did_you_mean(rest[0], self.commands)}")
            return rest[0], rest[1:]
        except ValueError as error:
            raise CommandLineError(str(error), self, path) from None


def cli_command(name: str) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function."""
    return lambda function: Command(name, function)


def cli_group(name: str) -> Callable[[Callable[[], None]], Group]:
    """Make a group of a function, of which only the docstring is used."""
    return lambda function: Group(name, function.__doc__ or "")


def argument(
    key: str,
    *,
    metavar: str = "",
    choices: tuple[str, ...] = (),
    default: str | None = None,
    many: bool = False,
) -> Callable[[Function], Function]:
    """Declare an argument of a command. With `many`, the parameter is a tuple of all that is given."""
    shown = metavar or f"{{{'|'.join(choices)}}}"
    return _declared(Argument(key=key, metavar=shown, choices=choices, default=default, many=many))


def option(
    *names: str,
    help: str | Callable[[], str],
    metavar: str = "",
    choices: tuple[str, ...] = (),
    convert: Callable[[str], object] = str,
    default: object = None,
    required: bool = False,
    multiple: bool = False,
    is_flag: bool = False,
    off_name: str = "",
    count: bool = False,
) -> Callable[[Function], Function]:
    """Declare an option of a command. A name without hyphens in front is that of the function's parameter."""
    typed = tuple(name for name in names if name.startswith("-"))
    keys = [name for name in names if not name.startswith("-")]
    return _declared(
        Option(
            key=keys[0] if keys else max(typed, key=len).lstrip("-").replace("-", "_"),
            names=typed,
            help=help,
            metavar=metavar or f"[{'|'.join(choices)}]",
            choices=choices,
            convert=convert,
            default=() if multiple else 0 if count else False if is_flag else default,
            required=required,
            multiple=multiple,
            is_flag=is_flag,
            off_name=off_name,
            count=count,
        )
    )


def _declared(parameter: Argument | Option) -> Callable[[Function], Function]:
    def declare(function: Function) -> Function:
        vars(function).setdefault("parameters", []).insert(0, parameter)  # the decorator above is applied later
        return function

    return declare


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Converts to a number of this range."""

    def convert(text: str) -> int:
        with_sign = text[1:] if text[:1] in ("-", "+") else text
        if not with_sign.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            expected = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ValueError(f"expected a number {expected}, found '{text}'")
        return int(text)

    return convert


def decimal_number(text: str) -> float:
    """Converts to a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number, found '{text}'") from None


def first_sentence(text: str) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + "." if stop else paragraph


Given = list[tuple[Option, str, str]]
"""Options in the order they were given, each with its name and its text."""


def split(options: tuple[Option, ...], words: list[str], mixed: bool = True) -> tuple[Given, list[str]]:
    """The options among words, and the other words. Raises `ValueError` for options that there are not.

    Options may stand anywhere before `--`; unless `mixed`, only before the first other word.
    """
    by_name = {name: option for option in options for name in option.all_names}
    given: Given = []
    rest: list[str] = []
    left = iter(words)
    for word in left:
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            rest.append(word)
            if not mixed:
                break
        elif word.startswith("--"):
            name, sign, text = word.partition("=")
            found = _known(by_name, name)
            if sign and not found.takes_value:
                raise ValueError(f"Option '{name}' does not take a value")
            given.append((found, name, text if sign or not found.takes_value else _next(left, name)))
        else:
            given += _short_options(by_name, word, left)
    return given, [*rest, *left]


def _short_options(by_name: Mapping[str, Option], word: str, left: Iterator[str]) -> Given:
    """The options of `-q`, `-vv`, `-o FILE` or `-oFILE`."""
    given: Given = []
    for place in range(1, len(word)):
        name = f"-{word[place]}"
        found = _known(by_name, name)
        if found.takes_value:
            return [*given, (found, name, word[place + 1 :] or _next(left, name))]
        given.append((found, name, ""))
    return given


def _known(by_name: Mapping[str, Option], name: str) -> Option:
    if name not in by_name:
        raise ValueError(f"No such option '{name}'{did_you_mean(name, by_name) if len(name) > 2 else ''}")
    return by_name[name]


def _next(left: Iterator[str], name: str) -> str:
    for word in left:
        return word
    raise ValueError(f"Option '{name}' requires an argument")


def _option_values(options: tuple[Option, ...], given: Given) -> dict[str, Any]:
    values: dict[str, Any] = {option.key: option.default for option in options if option is not HELP}
    for found, name, text in given:
        if found.is_flag:
            values[found.key] = name != found.off_name
        elif found.count:
            values[found.key] += 1
        elif found.multiple:
            values[found.key] += (_converted(found, name, text),)
        else:
            values[found.key] = _converted(found, name, text)
    named = {option.key for option, _, _ in given}
    for option in options:
        if option.required and option.key not in named:
            names = "' / '".join(option.names)
            raise ValueError(f"Missing option '{names}'")
    return values


def _converted(found: Option, name: str, text: str) -> object:
    if found.choices and text not in found.choices:
        raise ValueError(_not_a_choice(name, found.choices, text))
    try:
        return found.convert(text)
    except ValueError as error:
        raise ValueError(f"Invalid value for '{name}': {error}") from None


def _not_a_choice(name: str, choices: tuple[str, ...], text: str) -> str:
    expected = f"{', '.join(choices[:-1])} or {choices[-1]}"
    return f"Invalid value for '{name}': expected {expected}, found '{text}'"


def _argument_values(arguments: tuple[Argument, ...], rest: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for one in arguments:
        if one.required and not rest:
            raise ValueError(f"Missing argument '{one.metavar}'")
        if one.choices and rest and rest[0] not in one.choices:
            raise ValueError(_not_a_choice(one.metavar, one.choices, rest[0]))
        if one.many:
            values[one.key], rest = tuple(rest), []
        else:
            values[one.key], rest = (rest[0] if rest else one.default), rest[1:]
    if rest:
        raise ValueError(f"Got unexpected extra {'argument' if len(rest) == 1 else 'arguments'} ({' '.join(rest)})")
    return values
