"""`python -m vitexplorer`: the command line."""

from vitexplorer.cli import main

main()
