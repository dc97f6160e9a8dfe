"""Makes `reference-statistics.fixture.jsonl`: seeded data with the figures that `docs/statistics.md` defines for them.

    python3 -m venv /tmp/statistics && /tmp/statistics/bin/pip install numpy==2.4.6 statsmodels==0.15.0 lifelines==0.30.3
    /tmp/statistics/bin/python reference-statistics.fixture.py > reference-statistics.fixture.jsonl

All figures are computed with numpy alone, in other ways than the server's where there are any: t from its finite series, the interval of
a difference from the roots of its quadratic, permutations and resamples as matrices. `statsmodels_error` is statsmodels' CR1. The script
stops if statsmodels or lifelines, which has log-log Greenwood intervals, differ by more than 1e-9.
"""

import itertools
import json
import math
import statistics

import numpy as np
import statsmodels.api as sm
from lifelines import KaplanMeierFitter
from statsmodels.stats.multitest import multipletests

SEED = 20261122
Z = statistics.NormalDist().inv_cdf(0.975)


def two_sided(t, df):
    """P(|T| >= |t|), by the series of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    theta = math.atan(abs(t) / math.sqrt(df))
    cos, sin = math.cos(theta), math.sin(theta)
    if df % 2 == 1:
        term, inner = cos, 0.0
        for k in range(1, (df - 1) // 2 + 1):
            inner += term
            term *= 2 * k / (2 * k + 1) * cos * cos
        return 1 - 2 / math.pi * (theta + sin * inner)
    term, inner = 1.0, 0.0
    for k in range(1, df // 2 + 1):
        inner += term
        term *= (2 * k - 1) / (2 * k) * cos * cos
    return 1 - sin * inner


def t_quantile(p, df):
    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, df) > 2 * (1 - p) else (low, middle)
    return (low + high) / 2


def clustered_error(values, groups):
    count = len(np.unique(groups))
    residuals = values - values.mean()
    sums = np.array([residuals[groups == g].sum() for g in np.unique(groups)])
    return math.sqrt(count / (count - 1) * np.sum(sums**2)) / len(values)


def statsmodels_error(values, groups):
    fit = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    return float(fit.bse[0])


def mean_interval(values, groups):
    reach = t_quantile(0.975, len(np.unique(groups)) - 1) * clustered_error(values, groups)
    return [max(0.0, values.mean() - reach), min(1.0, values.mean() + reach)]


def rate_interval(values, groups):
    count, p, error = len(np.unique(groups)), values.mean(), clustered_error(values, groups)
    trials = count if error < 1e-12 else min(len(values), p * (1 - p) / error**2)
    t2 = t_quantile(0.975, count - 1) ** 2
    # |p - r| = t sqrt(r (1 - r) / n), squared.
    return sorted(float(root) for root in np.roots([1 + t2 / trials, -2 * p - t2 / trials, p * p]).real)


def figures(name, sizes, draw, binary):
    values = []
    for size in sizes:
        centre = draw.beta(2, 1)
        values.append((draw.random(size) < centre).astype(float) if binary else np.round(draw.beta(5 * centre, 5 - 5 * centre, size), 3))
    flat, groups = np.concatenate(values), np.repeat(np.arange(len(sizes)), sizes)
    error, reference = clustered_error(flat, groups), statsmodels_error(flat, groups)
    assert abs(error - reference) < 1e-12
    return {
        "kind": "figures", "name": name, "clusters": [one.tolist() for one in values], "mean": flat.mean(), "error": error,
        "statsmodels_error": reference, "mean_interval": mean_interval(flat, groups),
        "rate_interval": rate_interval(flat, groups) if binary else None,
    }  # fmt: skip


def fieller(sums, sizes):
    """All theta for which the t test of D - theta n does not reject, or None if there is no bound."""
    count, n = len(sums), sizes.sum()
    c = t_quantile(0.975, count - 1) ** 2 * count / (count - 1)
    dd, dn, nn = np.cov(sums, sizes, bias=True)[[0, 0, 1], [0, 1, 1]] * count
    square = n**2 - c * nn
    if square <= 0:
        return None
    roots = np.roots([square, -2 * (n * sums.sum() - c * dn), sums.sum() ** 2 - c * dd])
    for theta in roots.real:
        rest = sums - theta * sizes
        t = rest.mean() / (rest.std(ddof=1) / math.sqrt(count))
        assert abs(two_sided(t, count - 1) - 0.05) < 1e-9
    return sorted(float(root) for root in roots.real)


def permutation(sums, seed):
    reached = abs(sums.sum()) - 1e-12 * max(1, np.abs(sums).sum())
    if len(sums) <= 20:
        signs = np.array(list(itertools.product([-1, 1], repeat=len(sums))))
        return float(np.mean(np.abs(signs @ sums) >= reached))
    words = -(-len(sums) // 32)
    random = np.random.RandomState(seed).randint(0, 2**32, size=(10_000, words), dtype=np.uint32)
    bits = (random[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    signs = 2.0 * bits.reshape(10_000, -1)[:, : len(sums)] - 1
    return float((1 + np.sum(np.abs(signs @ sums) >= reached)) / 10_001)


def paired(name, sizes, draw, shift, unequal=0.0):
    clusters = []
    for index, size in enumerate(sizes):
        centre = 0.15 * draw.standard_normal() + shift + unequal * index
        clusters.append(np.round(np.clip(centre + 0.3 * draw.standard_normal(size), -1, 1), 3))
    flat, groups = np.concatenate(clusters), np.repeat(np.arange(len(sizes)), sizes)
    sums = np.array([one.sum() for one in clusters])
    df = len(sums) - 1
    reach = (t_quantile(0.975, df) + t_quantile(0.8, df)) * clustered_error(flat, groups)
    return {
        "kind": "paired", "name": name, "seed": SEED, "clusters": [one.tolist() for one in clusters], "difference": flat.mean(),
        "p_value": two_sided(sums.mean() / (sums.std(ddof=1) / math.sqrt(len(sums))), df),
        "interval": fieller(sums, np.array(sizes, dtype=float)), "p_permutation": permutation(sums, SEED),
        "min_detectable": reach, "trajectories_for_1_point": max(2, math.ceil(len(sums) * (reach / 0.01) ** 2)),
    }  # fmt: skip


def holm(p_values):
    order = np.argsort(p_values)
    steps = np.minimum(1, (len(p_values) - np.arange(len(p_values))) * np.array(p_values)[order])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(steps)
    assert np.allclose(adjusted, multipletests(p_values, method="holm")[1], atol=1e-12)
    return {"kind": "holm", "p_values": p_values, "p_adjusted": adjusted.tolist()}


def endings(count, draw, length, chance):
    """For each trajectory [last step, diverged]."""
    for _ in range(count):
        first, last = int(draw.geometric(chance)) - 1, int(draw.integers(1, length)) - 1
        yield [first, 1] if first <= last else [last, 0]


def curve(table):
    steps = np.unique(table[:, 0])
    at_risk = np.array([np.sum(table[:, 0] >= step) for step in steps])
    diverged = np.array([np.sum((table[:, 0] == step) & (table[:, 1] == 1)) for step in steps])
    return steps, at_risk, diverged, np.cumprod(1 - diverged / at_risk)


def median(steps, share):
    below = steps[share <= 0.5 + 1e-12]
    return int(below[0]) if len(below) else None


def survival(name, trajectories):
    table = np.array(trajectories)
    steps, at_risk, diverged, share = curve(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.cumsum(diverged / (at_risk * (at_risk - diverged)))
        scale = np.log(-np.log(share))
        reach = Z * np.sqrt(variance) / np.abs(np.log(share))
        bounds = np.exp(-np.exp(np.array([scale + reach, scale - reach])))
    # Its step k is the time k + 1.
    fitter = KaplanMeierFitter().fit(table[:, 0] + 1, table[:, 1])
    assert np.allclose(fitter.survival_function_.loc[steps + 1, "KM_estimate"], share, atol=1e-9)
    known = (share > 0) & (share < 1)
    assert np.allclose(fitter.confidence_interval_.loc[steps[known] + 1], bounds.T[known], atol=1e-9)
    rows = [
        [int(steps[i]), int(at_risk[i]), int(diverged[i]), float(share[i]), bounds[:, i].tolist() if known[i] else None]
        for i in range(len(steps))
    ]
    return {"kind": "survival", "name": name, "trajectories": trajectories, "steps": rows, "median": median(steps, share)}


def bootstrap(name, trajectories):
    table = np.array([ending for repeats in trajectories for ending in repeats])
    steps, _, _, share = curve(table)
    words = np.random.RandomState(SEED).randint(0, 2**32, size=(2000, len(trajectories)), dtype=np.uint32)
    drawn = np.floor(words / 2**32 * len(trajectories)).astype(int)
    arrays = [np.array(repeats) for repeats in trajectories]
    resamples = np.empty((2000, len(steps)))
    for index, choice in enumerate(drawn):
        own_steps, _, _, own = curve(np.concatenate([arrays[one] for one in choice]))
        at = np.searchsorted(own_steps, steps, side="right") - 1
        resamples[index] = np.where(at < 0, 1.0, own[np.maximum(at, 0)])
    bounds = np.percentile(resamples, [2.5, 97.5], axis=0).T
    known = (share > 0) & (share < 1)
    rows = [[int(steps[i]), float(share[i]), bounds[i].tolist() if known[i] else None] for i in range(len(steps))]
    return {"kind": "bootstrap", "name": name, "seed": SEED, "trajectories": trajectories, "steps": rows, "median": median(steps, share)}


def main():
    draw = np.random.default_rng(SEED)
    unequal = draw.integers(1, 30, 25).tolist()
    repeated = []
    for _ in range(30):
        chance = float(draw.beta(2, 8))
        repeated.append(list(endings(4, draw, 15, max(chance, 0.01))))
    lines = [
        {"kind": "t", "quantiles": [[p, df, t_quantile(p, df)] for p in (0.8, 0.975) for df in (1, 2, 9, 21, 24, 49, 199, 2000)],
         "two_sided": [[t, df, two_sided(t, df)] for t in (1e-6, 0.3, 1.0, 2.1, 8.0) for df in (1, 2, 9, 21, 24, 49, 199, 2000)]},
        figures("verdicts of unequal trajectories", unequal, draw, True),
        figures("verdicts of equal trajectories", [8] * 12, draw, True),
        figures("scores of unequal trajectories", unequal, draw, False),
        figures("scores of two trajectories", [5, 9], draw, False),
        paired("a clear difference of 25 trajectories", unequal, draw, 0.12),
        paired("no difference of 60 trajectories", draw.integers(1, 12, 60).tolist(), draw, 0.0),
        paired("12 trajectories", draw.integers(1, 12, 12).tolist(), draw, -0.1),
        paired("20 equal trajectories", [4] * 20, draw, 0.05),
        paired("33 trajectories, the longer the better", list(range(1, 34)), draw, -0.3, 0.02),
        paired("three trajectories, one of them long", [2, 3, 90], draw, 0.1),
        paired("two trajectories", [4, 5], draw, 0.2),
        holm([0.04, 0.001, 0.03, 0.9, 0.03, 0.5]),
        survival("60 trajectories", list(endings(60, draw, 25, 0.1))),
        survival("trajectories that seldom diverge", list(endings(40, draw, 12, 0.03))),
        survival("a recording that all end with a divergence", list(endings(30, draw, 1000, 0.25))),
        bootstrap("30 trajectories of 4 repeats", repeated),
    ]  # fmt: skip
    for line in lines:
        print(json.dumps(line, separators=(",", ":")))


main()
