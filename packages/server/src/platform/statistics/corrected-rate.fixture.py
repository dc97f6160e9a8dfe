"""Makes `corrected-rate.fixture.jsonl`: 60 seeded sets of labels with the figures of ppi_py, one verdict per trajectory.

    python3 -m venv /tmp/ppi && /tmp/ppi/bin/pip install ppi-python==0.2.3
    /tmp/ppi/bin/python corrected-rate.fixture.py > corrected-rate.fixture.jsonl

Each label is what people said and what the evaluator said, 1 or 0. λ and the rate are ppi_py's, with λ of a set without weights; the
interval leaves out one trajectory at a time. Every third set has weights: its unlabelled verdicts are not a sample of all, so all verdicts
take their place.
"""

import json

import numpy as np
from ppi_py import ppi_mean_pointestimate
from ppi_py.ppi import _calc_lam_glm
from scipy.stats import t as student

rng = np.random.default_rng(20261129)


def rate_of(y, f, rest, weights, lam):
    return float(np.squeeze(ppi_mean_pointestimate(y, f, rest, lam=lam, w=weights)))


def bounds(rate, error, effective):
    critical = student.ppf(0.975, effective - 1)
    trials = rate * (1 - rate) / error**2
    middle = rate + critical**2 / (2 * trials)
    reach = critical * np.sqrt(rate * (1 - rate) / trials + critical**2 / (4 * trials**2))
    return [(middle + sign * reach) / (1 + critical**2 / trials) for sign in (-1, 1)]


made = 0
while made < 60:
    labels, others = int(rng.integers(8, 60)), int(rng.integers(20, 200))
    y = (rng.random(labels + others) < rng.uniform(0.2, 0.9)).astype(float)
    f = np.where(rng.random(y.size) < rng.uniform(0.6, 0.98), y, 1 - y)
    known, said, rest = y[:labels], f[:labels], f[labels:]
    if len(set(f)) < 2 or len(set(known)) < 2:
        continue
    weights = rng.choice([1.0, 2.0, 4.0], labels) if made % 3 == 2 else np.ones(labels)
    lam = float(_calc_lam_glm(known, said, rest, np.eye(1), clip=True))
    is_weighted = len(set(weights)) > 1

    def besides(some, others_said):
        return np.concatenate([some, others_said]) if is_weighted else others_said

    rate = rate_of(known, said, besides(said, rest), weights, lam)
    without = [
        rate_of(np.delete(known, i), np.delete(said, i), besides(np.delete(said, i), rest), np.delete(weights, i), lam)
        for i in range(labels)
    ] + [rate_of(known, said, besides(said, np.delete(rest, i)), weights, lam) for i in range(others)]
    error = np.sqrt((y.size - 1) / y.size * np.sum((np.array(without) - np.mean(without)) ** 2))
    if not 0.001 < rate < 0.999:
        continue
    made += 1
    line = {
        "labels": [f"{int(a)}{int(b)}" for a, b in zip(known, said)],
        "weights": [float(w) for w in weights],
        "rest": "".join(str(int(b)) for b in rest),
        "lambda": lam,
        "rate": rate,
        "interval": bounds(rate, error, labels),
    }
    print(json.dumps(line, separators=(",", ":")))
