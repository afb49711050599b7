"""Run by the Python of another environment: a machine learned by rbms, in its own way.

    python rbms_peer.py SPINS.npy MACHINE.npz UNITS RATE UPDATES SWEEPS

Persistent contrastive divergence with centred gradients of norm 1, as in rbms' own training loop, whose default are
2000 chains: with 500 of them it is four times as fast. Batches are of 2000 samples at most, its default.
Writes the machine of units 0 and 1, and prints the seconds.
"""

import sys
import time

import numpy as np
import torch
from rbms.bernoulli_bernoulli.classes import BBRBM
from rbms.dataset.dataset_class import RBMDataset
from rbms.training.pcd import fit_batch_pcd

CHAINS, BATCH = 500, 2000


def main(given, found, units, rate, updates, sweeps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    bits = (np.load(given) > 0).astype(np.float32)
    data = RBMDataset(
        data=bits,
        labels=np.zeros(len(bits)),
        weights=np.ones(len(bits)),
        names=np.arange(len(bits)).astype(str),
        dataset_name="spins",
        is_binary=True,
        device="cpu",
        dtype=torch.float32,
    )
    start = time.perf_counter()
    params = BBRBM.init_parameters(
        num_hiddens=units, dataset=data, device=torch.device("cpu"), dtype=torch.float32
    )
    params.init_grad()
    chains = params.init_chains(num_samples=CHAINS)
    optimizer = torch.optim.SGD(params.parameters(), lr=rate, maximize=True)
    with torch.no_grad():
        for _ in range(updates):
            chosen = torch.randperm(len(bits))[:BATCH]
            optimizer.zero_grad(set_to_none=False)
            chains, _ = fit_batch_pcd(
                batch=(data.data[chosen], data.weights[chosen]),
                parallel_chains=chains,
                params=params,
                gibbs_steps=sweeps,
                beta=1.0,
                centered=True,
            )
            optimizer.step()
    elapsed = time.perf_counter() - start
    np.savez(
        found,
        weights=params.weight_matrix.detach().numpy(),
        fields=params.vbias.detach().numpy(),
        hidden=params.hbias.detach().numpy(),
    )
    print(elapsed)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
