"""The order of the gallery: tutorials first."""

from pathlib import Path

_FIRST = ("plot_symptoms.py", "plot_spikes.py", "plot_senate.py", "plot_spins.py")


class TutorialsFirst:
    """Sorts the scripts of a folder for sphinx-gallery."""

    def __init__(self, src_dir: str) -> None:
        pass

    def __call__(self, filename: str) -> tuple[int, str]:
        """Give the place of a script, and its name."""
        name = Path(filename).name
        return (_FIRST.index(name) if name in _FIRST else len(_FIRST)), name
