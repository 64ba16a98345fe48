"""The command. `--version` is answered before anything else is imported: people run this on every push."""

import gc
import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from passmuster._version import __version__

        print(f"passmuster {__version__}")
        return
    gc.set_threshold(100_000, 20, 50)  # what is made at the start stays; looking for garbage in it takes a tenth
    try:
        from passmuster.cli.main import command

        command(prog_name="passmuster")
    except KeyboardInterrupt:  # before the command itself listens for it
        sys.exit(130)
    finally:
        gc.freeze()  # the process ends: its last look for garbage would take a twelfth of a short run


if __name__ == "__main__":
    main()
