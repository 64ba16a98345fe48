"""Completion of commands, options and their values in a shell.

A script that `passmuster completion` prints asks this program, with the words so far in environment variables. Where
there is nothing to complete, the shell completes names of files.
"""

from __future__ import annotations

import os
import shlex
import textwrap
from collections.abc import Iterator

from passmuster.cli._command_line import Command, Group, Option

SCRIPTS = {
    "bash": """\
_passmuster_completion() {
    local IFS=$'\\n' line
    COMPREPLY=()
    for line in $(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD _PASSMUSTER_COMPLETE=bash_complete "$1"); do
        COMPREPLY+=("${line#plain,}")
    done
}
complete -o default -F _passmuster_completion passmuster
""",
    "zsh": """\
#compdef passmuster
_passmuster_completion() {
    local -a described
    local kind value help
    while read -r kind && read -r value && read -r help; do
        described+=("${value//:/\\\\:}:${help#_}")
    done < <(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) _PASSMUSTER_COMPLETE=zsh_complete passmuster)
    if (( ${#described} )); then
        _describe -V passmuster described -U
    else
        _files
    fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _passmuster_completion "$@"
else
    compdef _passmuster_completion passmuster
fi
""",
    "fish": """\
function _passmuster_completion
    set -l found (COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) \\
        _PASSMUSTER_COMPLETE=fish_complete passmuster)
    if test -n "$found"
        string replace -r '^plain,' '' -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --no-files --command passmuster --arguments "(_passmuster_completion)"
""",
}
"""What defines completion in each shell."""


def completion_lines(group: Group, shell: str) -> Iterator[str]:
    """What a script of this shell (`bash_complete`, …) expects for the words in the environment."""
    words = _words(os.environ.get("COMP_WORDS", ""))[1:]
    current = os.environ.get("COMP_CWORD", "")
    if shell == "fish_complete":
        begun = current
        if begun and words and words[-1] == begun:
            words.pop()
    else:
        place = int(current) - 1 if current.isdecimal() and current != "0" else 0
        begun = words[place] if place < len(words) else ""
        words = words[:place]
    for value, text in _completions(group, words, begun):
        meaning = textwrap.shorten(text, 90, placeholder=" …")
        if shell == "zsh_complete":
            yield from ("plain", value, meaning or "_")
        elif shell == "fish_complete" and meaning:
            yield f"plain,{value}\t{meaning}"
        else:
            yield f"plain,{value}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is still open
        return text.split()


def _completions(command: Command | Group, words: list[str], begun: str) -> Iterator[tuple[str, str]]:
    """What the word that was begun may become, each with its meaning."""
    used: list[Option] = []
    others = 0
    waiting: Option | None = None
    for word in words:
        option = _option(command, word.partition("=")[0])
        if waiting is not None:
            waiting = None
        elif option is not None:
            used.append(option)
            waiting = option if option.takes_value and "=" not in word else None
        elif isinstance(command, Group) and word in command.commands:
            command, used = command.commands[word], []
        else:
            others += 1
    name, sign, value = begun.partition("=")
    if waiting is None and sign and name.startswith("--"):
        waiting, begun = _option(command, name), value
    if waiting is not None:
        found = [(choice, "") for choice in waiting.choices]
    elif begun.startswith("-"):
        left = [option for option in command.options if option.multiple or option not in used]
        found = [(name, option.help_text) for option in left for name in option.all_names]
    elif isinstance(command, Group):
        found = [(name, command.commands[name].summary) for name in sorted(command.commands)]
    else:
        found = [(choice, "") for argument in command.arguments[others : others + 1] for choice in argument.choices]
    yield from (one for one in found if one[0].startswith(begun))


def _option(command: Command | Group, name: str) -> Option | None:
    return next((option for option in command.options if name in option.all_names), None)
