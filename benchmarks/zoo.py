"""Does bayesing notice data of another kind? Ten minutes on one core.

    python benchmarks/zoo.py FOLDER [kinds alarms cost] [--jobs 1] [--quick]

An interrupted run goes on where it stopped. At the end FOLDER/PART.csv holds all rows of a part, and a summary is
printed. "kinds" fits every kind of data in zoo_data.py, and counts how often a wrong answer comes without a word.
"alarms" counts doubts about data that are as they should be. "cost" measures the time that the doubts take: give it
--jobs 1. The kind "recording" reads example50.npz (array "bits", 50 cells in packed bits) from the folder that the
environment variable BAYESING_DATA names, and is left out without it.
"""

from __future__ import annotations

from front import main, part
from zoo_alarms import alarms_summary, alarms_tasks, cost_summary, cost_tasks
from zoo_kinds import kinds_summary, kinds_tasks
from zoo_pictures import kinds_picture

PARTS = {
    "kinds": part("kinds", kinds_tasks, kinds_summary, kinds_picture),
    "alarms": part("alarms", alarms_tasks, alarms_summary),
    "cost": part("cost", cost_tasks, cost_summary),
}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS)
