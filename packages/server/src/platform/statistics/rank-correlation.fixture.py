"""Makes `rank-correlation.fixture.jsonl`: seeded rewards in tasks with Spearman's correlation and the mean distance of both.

    python3 -m venv /tmp/ranks && /tmp/ranks/bin/pip install numpy==2.4.6 scipy==1.17.1
    /tmp/ranks/bin/python rank-correlation.fixture.py > rank-correlation.fixture.jsonl

The correlation is scipy's. Intervals leave out one task at a time, each time with the whole figure of the rest; squares are
about the figure of all where it is a mean, and otherwise about the mean of those figures, as everywhere in the server.
"""

import json
import math
import warnings

import numpy as np
from scipy.stats import spearmanr
from scipy.stats import t as student

SEED = 20261128


def distance(pairs):
    return float(np.abs(pairs[:, 0] - pairs[:, 1]).mean())


def correlation(pairs):
    return float(spearmanr(pairs[:, 0], pairs[:, 1]).statistic)


def figure(make, pairs, of, lowest, highest):
    value, (tasks, sizes) = make(pairs), np.unique(of, return_counts=True)
    if math.isnan(value):
        return [None, None]
    without = np.array([make(pairs[of != task]) for task in tasks]) if len(tasks) >= 6 else np.array([math.nan])
    middle = value if make is distance else without.mean()
    error = math.sqrt((len(tasks) - 1) / len(tasks) * np.sum((without - middle) ** 2))
    if math.isnan(error) or error < 1e-10:
        return [value, None]
    reach = student(sizes.sum() ** 2 / np.sum(sizes**2) - 1).ppf(0.975) * error
    return [value, [max(lowest, value - reach), min(highest, value + reach)]]


def one(rng, index):
    tasks = int(rng.integers(3, 16))
    of = np.concatenate([np.full(rng.integers(1, 7), task) for task in range(tasks)])
    real = rng.normal(size=len(of)) + rng.normal(size=tasks)[of]
    pairs = np.column_stack([real + rng.normal(0, rng.uniform(0, 3), len(of)), real])
    # Makes ties; in every tenth line, one side has nothing else.
    pairs = np.round(pairs, int(rng.integers(0, 3))) + 0.0
    if index % 10 == 0:
        pairs[:, 0] = 1
    return {
        "pairs": pairs.tolist(), "tasks": of.tolist(), "distance": figure(distance, pairs, of, 0, math.inf),
        "correlation": figure(correlation, pairs, of, -1, 1),
    }  # fmt: skip


warnings.simplefilter("ignore")
rng = np.random.default_rng(SEED)
for index in range(60):
    print(json.dumps(one(rng, index)))
