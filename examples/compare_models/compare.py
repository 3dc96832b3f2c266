"""Two models on one benchmark: run, look at the scores as a table, compare, report. Read it cell by cell, or run it.

    python compare.py [FOLDER]

Each part begins with ``# %%``, which editors show as the cell of a notebook.
"""

# %% Two runs. The models are Python functions here, so nothing is paid; any other model is named in the same way.
import sys
from pathlib import Path

import pandas as pd

import sociable

here = Path(__file__).parent
out = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/compare-models")
names = {"last": f"python:{here / 'agents.py'}:answer_last", "first": f"python:{here / 'agents.py'}:answer_first"}
runs = {
    label: sociable.run("hsii", name, out=out / label, limit=4, seed=1, options={"stages": [1, 2]})
    for label, name in names.items()
}

# %% Each score is a row: one metric of one episode.
scores = pd.concat([run.frame().assign(agent=label) for label, run in runs.items()], ignore_index=True)
print(scores.head(), end="\n\n")

# %% Means by agent and by dialogue. A score without a value (not reached, unscored, errored) is NaN, never 0.
print(scores.pivot_table(index="metric", columns="agent", values="value"), end="\n\n")
targets = scores[scores["metric"] == "r2"]
print(targets.groupby(["cluster", "agent"])["value"].agg(["mean", "count"]).unstack("agent"), end="\n\n")

# %% Estimates have intervals; a mean of the rows has none.
for label, run in runs.items():
    estimate = run.estimate("r2")
    assert estimate is not None and estimate.value is not None
    print(f"{label}: r2 {estimate.value:.2f}, 95% interval {estimate.low:.2f} to {estimate.high:.2f}")

# %% Paired, case by case: this says more than two intervals side by side.
comparison = sociable.compare(runs["last"], runs["first"], out=out / "comparison.html")
print(f"\n{comparison.title}")

# %% One report on both.
print(f"Report: {sociable.report(list(runs.values()), out / 'report.html')}")
