"""``python -m bayesing``."""

from .cli import main

main()
