"""``python -m sociable`` is the command line."""

from sociable.cli.main import main

if __name__ == "__main__":
    main()
