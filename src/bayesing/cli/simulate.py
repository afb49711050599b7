"""``bayesing simulate``: spins of a machine with random couplings, as a file."""

from __future__ import annotations

from typing import Any

import click

from ._methods import strength_priors
from ._options import force_option, prior_option


@click.command(short_help="Simulate spins and write them to a file.")
@click.option("--spins", "n_spins", type=int, default=300, show_default=True, help="Number of spins n.")
@click.option("--samples", "n_samples", type=int, default=120, show_default=True, help="Number of samples N.")
@click.option("--J", "J", type=float, default=0.8, show_default=True, help="Couplings have variance J^2/n.")
@click.option("--H", "H", type=float, default=0.0, show_default=True, help="Field, the same for all spins.")
@click.option("--J0", "J0", type=float, default=0.0, show_default=True, help="Couplings have mean J0/n.")
@prior_option(strength_priors)
@click.option(
    "--sampler", default="anneal", show_default=True, help="anneal, or temper for data at equilibrium."
)
@click.option("--sweeps", type=int, default=1, show_default=True, help="Sweeps at each step of annealing.")
@click.option("--seed", type=int, default=None, help="Seed; the same one gives the same data.")
@click.option("-o", "--output", required=True, help="The .npz file to write.")
@force_option
def simulate(output: str, force: bool, **settings: Any) -> None:
    """Simulate spins of a Boltzmann machine with random couplings, and write them to an .npz file."""
    import numpy as np

    from ..files import writing
    from ..generator import simulate as run
    from ._output import check_output

    check_output(output, ".npz", force)
    sim = run(**settings)
    with writing(output, force) as file:
        np.savez_compressed(file, spins=sim.spins, couplings=sim.couplings, fields=sim.fields)
    click.echo(f"wrote {output}: {len(sim.spins)} samples of {len(sim.fields)} spins")
