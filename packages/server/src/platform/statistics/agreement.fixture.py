"""Makes `agreement.fixture.jsonl`: 200 seeded sets of labels with the figures that `docs/statistics.md` defines for them.

    python3 -m venv /tmp/agreement && /tmp/agreement/bin/pip install numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 statsmodels==0.15.0 krippendorff==0.9.0
    /tmp/agreement/bin/pip install --no-deps irrCAC==0.4.4
    /tmp/agreement/bin/python agreement.fixture.py > agreement.fixture.jsonl

Each thing is a text: what each rater said, 1, 0 or - for nothing. The first two raters, where both said something, are the pair. κ is
statsmodels', AC1 irrCAC's, α krippendorff's. Intervals leave out one trajectory at a time, each time with the whole figure of the rest. Every
fourth set has weights: its figures are those of things repeated as often.
"""

import json
import math

import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from krippendorff import alpha as krippendorff_alpha
from scipy.stats import t as student
from statsmodels.stats.inter_rater import cohens_kappa

SEED = 20261128


def pairs_of(ratings):
    return ratings[~np.isnan(ratings[:, :2]).any(axis=1)][:, :2]


def kappa(ratings):
    pairs = pairs_of(ratings)
    table = np.array([[np.sum((pairs[:, 0] == a) & (pairs[:, 1] == b)) for b in (0, 1)] for a in (0, 1)])
    if len(np.unique(pairs)) < 2:
        return math.nan
    return float(cohens_kappa(table, return_results=False))


def ac1(ratings):
    pairs = pairs_of(ratings)
    return float(CAC(pd.DataFrame(pairs.astype(int)), digits=15).gwet()["est"]["coefficient_value"])


def alpha(ratings):
    rated = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    if len(np.unique(rated[~np.isnan(rated)])) < 2:
        return math.nan
    return float(krippendorff_alpha(reliability_data=rated.T, level_of_measurement="nominal"))


def interval(make, ratings, of, counted):
    ratings, of = ratings[counted], of[counted]
    groups, sizes = np.unique(of, return_counts=True)
    without = np.array([make(ratings[of != g]) for g in groups]) if len(groups) >= 6 else np.array([math.nan])
    if np.isnan(without).any():
        return None
    error = math.sqrt((len(groups) - 1) / len(groups) * np.sum((without - without.mean()) ** 2))
    effective = sizes.sum() ** 2 / np.sum(sizes**2)
    reach = student(effective - 1).ppf(0.975) * error
    value = make(ratings)
    return None if reach < 1e-12 else [max(-1.0, value - reach), min(1.0, value + reach)]


def one(rng, index):
    raters = int(rng.integers(2, 6))
    trajectories = int(rng.integers(3, 16))
    of = np.concatenate([np.full(rng.integers(1, 7), g) for g in range(trajectories)])
    ease = rng.beta(2, 1, trajectories)[of]
    truth = rng.random(len(of)) < (0.98 if index % 9 == 0 else ease)
    ratings = np.array([np.where(rng.random(len(of)) < 0.85, truth, ~truth) for _ in range(raters)], dtype=float).T
    ratings[rng.random(ratings.shape) < (0.0 if index % 3 == 0 else 0.2)] = math.nan
    # Some things are rated by both.
    ratings[0, :2] = 1
    paired = ~np.isnan(ratings[:, :2]).any(axis=1)
    rated = (~np.isnan(ratings)).sum(axis=1) > 1
    weights = rng.integers(1, 4, len(of)) if index % 4 == 0 else np.ones(len(of), dtype=int)
    often = np.repeat(ratings, weights, axis=0)
    figures = {"kappa": kappa(often), "ac1": ac1(often)}
    line = {
        "things": ["".join("-" if math.isnan(x) else str(int(x)) for x in row) for row in ratings],
        "trajectories": of.tolist(),
        "weights": weights.tolist(),
        **{name: None if math.isnan(value) else value for name, value in figures.items()},
    }
    if index % 4 == 0:
        return line
    value = alpha(ratings)
    return {
        **line,
        "alpha": None if math.isnan(value) else value,
        "kappa_interval": interval(kappa, ratings, of, paired),
        "ac1_interval": interval(ac1, ratings, of, paired),
        "alpha_interval": interval(alpha, ratings, of, rated),
    }


def main():
    rng = np.random.default_rng(SEED)
    for index in range(200):
        print(json.dumps(one(rng, index), separators=(",", ":")))


main()
