"""Run the command line as ``python -m headway.cli``."""

from headway.cli.main import main

if __name__ == "__main__":
    main()
