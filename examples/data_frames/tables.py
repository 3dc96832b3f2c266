"""Two runs as tables: estimates worked out again with DuckDB and with pandas. Read it cell by cell, or run it.

    python tables.py [FOLDER]

Each part begins with ``# %%``, which editors show as the cell of a notebook.
"""

# %% Two runs, and their tables. The folder of a study or a tournament is exported in the same way.
import sys
from pathlib import Path

import duckdb
import pandas as pd

import sociable

out = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/data-frames")
for agent in ("oracle@0.3", "heuristic"):
    options = {"stages": [1, 2, 3]}
    sociable.run("hsii", f"reference/{agent}", out=out / agent, limit=6, judges=["reference/rule"], options=options)
exported = sociable.export([out / "oracle@0.3", out / "heuristic"], out / "tables", "parquet")
for file, rows in exported.files.items():
    print(f"{file}: {rows} rows")

# %% DuckDB reads the files where they are. A score without a value is NULL, which no mean counts.
database = duckdb.connect()
for file in exported.files:
    database.execute(f"CREATE VIEW {Path(file).stem} AS FROM '{file}'")
means = database.execute(
    """
    SELECT run, metric, avg(scores.value) AS mean, any_value(estimates.value) AS estimate
    FROM scores JOIN estimates USING (run, metric)
    WHERE metric IN ('r1', 'r2', 'leak_rate') GROUP BY ALL ORDER BY ALL
    """
).df()
print(f"\n{means}")
assert len(means) == 6 and ((means["mean"] - means["estimate"]).abs() < 1e-12).all()

# %% pandas: from verdicts to the win rate in which a tie counts half.
judgments, estimates = (pd.read_parquet(out / "tables" / f"{name}.parquet") for name in ("judgments", "estimates"))
verdicts = judgments[judgments["counts"] & (judgments["criterion"] == "first utterance") & (judgments["verdict"] != "unscored")]
won = verdicts["verdict"].map({"win": 1.0, "tie": 0.5, "loss": 0.0}).groupby(verdicts["run"]).mean()
expected = estimates[estimates["metric"] == "r3_ties_half"].set_index("run")["value"]
print(f"\n{pd.DataFrame({'from verdicts': won, 'estimate': expected})}")
assert len(won) == 2 and ((won - expected).abs() < 1e-12).all()
