"""The command. `--version` is answered before anything else is imported."""

import gc
import sys


def main() -> None:
    """Run the command line, and end the process."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from passmuster._version import __version__

        try:
            print(f"passmuster {__version__}", flush=True)
            return
        except OSError:  # the command line below knows what to do about it
            pass
    # What is made at the start stays: looking for garbage in it took 10 % of the example run (191, not 171 ms of CPU).
    gc.set_threshold(100_000, 20, 50)
    try:
        _interrupt_on_termination()
        from passmuster.cli import import_quickly

        import_quickly()
        from passmuster.cli import main as command_line

        sys.exit(command_line())
    except KeyboardInterrupt:  # before the command itself handles it
        sys.exit(130)
    except SystemExit as end:
        _leave(end.code)
        raise


def _interrupt_on_termination() -> None:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does, with its workers and temporary files; ignored ones stay so."""
    import signal

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            try:
                signal.signal(number, signal.default_int_handler)
            except ValueError:  # not in the main thread
                return


def _leave(code: object) -> None:
    """End without tearing down the interpreter, where no plugin, thread or exit handler could need it.

    Measured: the teardown took 14 % of the example run (198 against 171 ms of CPU time).
    """
    import atexit
    import os

    threads, plugins = (sys.modules.get(name) for name in ("threading", "passmuster.checks._custom"))
    if plugins and type(code) is int:  # an exit handler of a plugin must not change how the run ended
        end = os._exit
        for name in ("_exit", "execv", "execve"):
            setattr(os, name, lambda *_: end(code))
    if type(code) is not int or plugins or atexit._ncallbacks() or (threads and threads.active_count() > 1):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):  # closed, or never there: the usual exit reports it
        return
    os._exit(code)


if __name__ == "__main__":
    if not sys.flags.safe_path:  # `python -m` puts the current folder first, where anybody's `msgspec.py` may lie
        folder = sys.path.pop(0)
        if __file__.startswith(folder):
            sys.path.append(folder)
    main()
