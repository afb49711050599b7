"""How many hidden causes, and which? Everything that docs/hidden.md claims.

    python benchmarks/hidden.py FOLDER [PART ...] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary says
which claims hold. "planted" has data of machines that are known, "gaps" such data with missing cells. "bursts" are
samples in which all cells fire more often. "real" has evidences of votes and digits. "digits" compares likelihoods
with those of scikit-learn's BernoulliRBM, "peer" with those of rbms, by the Python that BAYESING_RBMS names.
"causes", "causes_bursts" and "recording" have couplings beside hidden units; the last reads example50.npz (array
"bits", 50 cells in packed bits) from the folder that the environment variable BAYESING_DATA names, and is left out
without it. "cost" measures time: give it --jobs 1.
"""

from __future__ import annotations

import hidden_causes as causes
import hidden_cost as cost
import hidden_digits as digits
import hidden_gaps as gaps
import hidden_planted as planted
from front import main, part
from hidden_pictures import evidence_picture

PARTS = {
    "planted": part("planted", planted.planted_tasks, planted.planted_summary, evidence_picture),
    "gaps": part("gaps", gaps.gaps_tasks, gaps.gaps_summary),
    "bursts": part("bursts", planted.bursts_tasks, planted.bursts_summary),
    "real": part("real", digits.real_tasks, digits.real_summary, evidence_picture),
    "digits": part("digits", digits.digits_tasks, digits.digits_summary),
    "peer": part("peer", digits.peer_tasks, digits.peer_summary),
    "causes": part("causes", causes.causes_tasks, causes.causes_summary),
    "causes_bursts": part("causes_bursts", causes.causes_bursts_tasks, causes.causes_bursts_summary),
    "recording": part("recording", causes.recording_tasks, causes.recording_summary),
    "cost": part("cost", cost.cost_tasks, cost.cost_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
