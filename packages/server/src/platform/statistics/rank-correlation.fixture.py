"""Makes `rank-correlation.fixture.jsonl`: seeded pairs of numbers with scipy's rank correlation, and that without each cluster.

    python3 -m venv /tmp/ranks && /tmp/ranks/bin/pip install numpy==2.4.6 scipy==1.17.1
    /tmp/ranks/bin/python rank-correlation.fixture.py > rank-correlation.fixture.jsonl
"""

import json
import math
import warnings

import numpy
from scipy.stats import spearmanr

warnings.filterwarnings("ignore")


def correlation(one, other):
    if len(one) < 2:
        return None
    value = float(spearmanr(one, other).statistic)
    return None if math.isnan(value) else value


random = numpy.random.default_rng(20261128)
for case in range(40):
    count = int(random.integers(2, 60))
    # Rewards are often 0 or 1, or a few steps between; a few cases have one value only, or no ties.
    values = [1, 2, 3, 11, 10_000][case % 5]
    one = random.integers(0, values, count) / max(1, values - 1)
    noise = random.random(count) < 0.3
    other = numpy.where(noise, random.integers(0, values, count) / max(1, values - 1), one)
    clusters = random.integers(0, max(1, count // 4), count)
    clusters = numpy.unique(clusters, return_inverse=True)[1]
    without = [correlation(one[clusters != c], other[clusters != c]) for c in range(clusters.max() + 1)]
    print(
        json.dumps(
            {
                "one": one.tolist(),
                "other": other.tolist(),
                "clusters": clusters.tolist(),
                "value": correlation(one, other),
                "without": without,
            }
        )
    )
