"""What an estimator of couplings gives away: lists, tables, networks, files, and objects of other libraries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from ._estimator import MethodEstimator
from .arguments import Seed, count, number
from .couplings.likelihood import PosteriorDraws, draws_of
from .edges import FDR, Coupling, edges_of, frame_of, in_encoding, pairs_of, strongest_of
from .encodings import SPINS
from .fields import Field, listed_fields
from .inference import CouplingAnswer

if TYPE_CHECKING:
    import pandas as pd

    from .export import Saved


class CouplingExports(MethodEstimator[CouplingAnswer]):
    """Lists and files of couplings. ``encoding="01"`` gives numbers for variables that are 0 and 1."""

    prior: str

    def strongest(self, k: int = 10, encoding: str = SPINS) -> list[Coupling]:
        """The k couplings of largest absolute value, the first the largest; no n x n matrix is formed."""
        found = strongest_of(self._fitted, self.names(), count("k", k, 1))
        return list(in_encoding(found, encoding))

    def edges(self, fdr: float = FDR, encoding: str = SPINS) -> list[Coupling]:
        """The couplings that are there, the most probable first; a share ``fdr`` of them is expected to be false.

        With a sparse prior a false one is 0. With other priors, under which none is, it has the other sign.
        ``encoding="01"`` gives couplings of variables that are 0 and 1, four times as large.
        """
        found = edges_of(self._fitted, self.names(), number("fdr", fdr, least=0, most=1))
        return list(in_encoding(found, encoding))

    def pairs(self, encoding: str = SPINS) -> Iterator[Coupling]:
        """Every coupling i < j, row by row."""
        return in_encoding(pairs_of(self._fitted, self.names()), encoding)

    def fields(self, encoding: str = SPINS) -> list[Field]:
        """The field of every spin, with its error; with ``encoding="01"`` the thresholds 2 h_i - 2 sum_j J_ij.

        Hidden units, if there are any, come last.
        """
        return listed_fields(self._fitted, self.names(), encoding)

    def to_frame(self, fdr: float = FDR, encoding: str = SPINS) -> pd.DataFrame:
        """A pandas data frame with a row for every coupling i < j: indices, names, J, error, probability, edge."""
        return frame_of(self._fitted, self.names(), number("fdr", fdr, least=0, most=1), encoding)

    def to_networkx(self, fdr: float = FDR, encoding: str = SPINS) -> Any:
        """A ``networkx.Graph`` of the edges that are there, by name; ``fdr=1`` gives all couplings.

        Edges have ``J``, its ``error``, its ``probability`` and, as ``weight``, the size of J without its sign; nodes
        have their ``field``. Hidden units are nodes of the kind "cause".
        """
        from .export import Choices, Fit, networkx_of

        return networkx_of(Fit.of(self), Choices(number("fdr", fdr, least=0, most=1), encoding))

    def to_bqm(self) -> Any:
        """The model as a ``dimod.BinaryQuadraticModel`` with the names of the spins: its ground states are the most
        probable states. dimod minimises an energy, so that its fields and couplings have the other sign.
        """
        from .export import Fit
        from .export._graph import ids_of

        return self._fitted.model.to_bqm(ids_of(Fit.of(self).labels))

    def to_inference_data(self, n_draws: int = 100, seed: Seed = None) -> Any:
        """Draws from the posterior (:meth:`posterior`) as an InferenceData of ArviZ, with the names of the spins.

        ``J`` are the couplings of all pairs, ``h`` the fields. It needs ArviZ, a method that has a posterior of all
        parameters together, and a Gaussian prior; an error says so.
        """
        from .export import Choices, Fit, inference_data_of

        return inference_data_of(self.posterior(n_draws, seed), self.names(), Fit.of(self).about(Choices()))

    def posterior(self, n_draws: int = 100, seed: Seed = None) -> PosteriorDraws:
        """Draws of all couplings and fields given the data, so that any function of them has an interval.

        For methods that have a posterior of all parameters together, with a Gaussian prior. None is a fixed seed.
        """
        n_draws = count("n_draws", n_draws, 1)
        found = self._fitted
        return draws_of(found.couplings, self.method_, self.prior, n_draws, seed, found.worth)

    def export(
        self,
        path: str | os.PathLike[str],
        fdr: float = FDR,
        encoding: str = SPINS,
        matrix: bool = False,
        force: bool = False,
    ) -> None:
        """Write couplings to a file: .csv, .parquet, .graphml, .gexf, .json or .npz, by its ending.

        Tables have a row for every pair or, with ``matrix``, the n x n matrix. Networks have the edges that are
        there. An existing file is kept, unless ``force``.
        """
        from .export import Choices, Fit, write

        write(path, Fit.of(self), Choices(fdr, encoding, matrix), force)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole fit to an .npz file: couplings, fields, errors, names, and how they were found."""
        from .export import Fit, save
        from .files import writing

        with writing(path, force=True) as file:
            save(file, Fit.of(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote, or ``bayesing couplings -o fit.npz``. Nothing is unpickled.

        It scores, samples and lists edges as the fitted one did; draws from the posterior need the data, and a new
        fit.
        """
        from .export import load

        saved = load(path)
        return cls(**saved.parameters)._restored(saved)

    def _restored(self, saved: Saved) -> Self:
        self._answer = saved.answer
        self._recall(len(saved.answer.couplings.fields), saved.names)
        return self
