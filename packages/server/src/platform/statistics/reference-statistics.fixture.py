"""Makes `reference-statistics.fixture.jsonl`: seeded data with the figures that `docs/statistics.md` defines for them.

    python3 -m venv /tmp/statistics && /tmp/statistics/bin/pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 lifelines==0.30.3
    /tmp/statistics/bin/python reference-statistics.fixture.py > reference-statistics.fixture.jsonl

The figures are computed in other ways than the server's where there are any: t by scipy, the jackknife by leaving clusters out, bounds of
a rate by searching for Wilson's equation, those of a difference by searching for the last one that flipped signs do not reject, and signs
and resamples as matrices. `moments_error` is statsmodels' CR1. The script stops if lifelines' log-log Greenwood intervals differ by more
than 1e-9.
"""

import itertools
import json
import math
import statistics

import numpy as np
import statsmodels.api as sm
from lifelines import KaplanMeierFitter
from scipy.optimize import brentq
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

SEED = 20261122
Z = statistics.NormalDist().inv_cdf(0.975)


def jackknife_error(clusters):
    flat, count = np.concatenate(clusters), len(clusters)
    without = [np.concatenate(clusters[:i] + clusters[i + 1 :]).mean() for i in range(count)]
    error = math.sqrt((count - 1) / count * sum((mean - flat.mean()) ** 2 for mean in without))
    return 0.0 if error < 1e-10 else error


def moments_error(clusters):
    flat, groups = np.concatenate(clusters), np.repeat(np.arange(len(clusters)), [len(one) for one in clusters])
    fit = sm.OLS(flat, np.ones(len(flat))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    return 0.0 if fit.bse[0] < 1e-10 else float(fit.bse[0])


def wilson(rate, trials, critical):
    """Both r at which |rate - r| = critical * sqrt(r (1 - r) / trials)."""
    if rate in (0, 1):
        end = trials / (trials + critical**2)
        return [0.0, 1 - end] if rate == 0 else [end, 1.0]
    off = lambda r: (rate - r) ** 2 - critical**2 * r * (1 - r) / trials  # noqa: E731
    return [brentq(off, 0, rate, xtol=1e-15), brentq(off, rate, 1, xtol=1e-15)]


def effective(clusters):
    shares = np.array([len(one) for one in clusters]) / sum(len(one) for one in clusters)
    return float(1 / np.sum(shares**2))


def rate_interval(clusters, error):
    flat, weigh = np.concatenate(clusters), effective(clusters)
    rate, count = flat.mean(), len(flat)
    rarer = np.array([one.sum() if rate < 0.5 - 1e-12 else (1 - one).sum() for one in clusters])
    seen_in = 1 / np.sum((rarer / rarer.sum()) ** 2) if rarer.sum() > 0 else 0.0
    # How much more the rate varies than that of independent verdicts.
    seen = error**2 / (rate * (1 - rate) / count) if 0 < rate < 1 else 0.0
    effect = np.average([seen, count / weigh], weights=[seen_in, 0.2])
    return wilson(rate, count / max(1.0, effect), student.ppf(0.975, weigh - 1))


def score_interval(clusters, error):
    mean, weigh = np.concatenate(clusters).mean(), effective(clusters)
    return wilson(mean, mean * (1 - mean) / error**2 if error else weigh, student.ppf(0.975, weigh - 1))


def figures(name, clusters, binary):
    clusters = [np.asarray(one, dtype=float) for one in clusters]
    error = jackknife_error(clusters)
    return {
        "kind": "figures", "name": name, "clusters": [one.tolist() for one in clusters], "mean": np.concatenate(clusters).mean(),
        "effective": effective(clusters), "error": error, "moments_error": moments_error(clusters),
        "score_interval": score_interval(clusters, error), "rate_interval": rate_interval(clusters, error) if binary else None,
    }  # fmt: skip


def drawn(sizes, draw, binary, a=2, b=1):
    for size in sizes:
        centre = draw.beta(a, b)
        yield (draw.random(size) < centre).astype(float) if binary else np.round(draw.beta(5 * centre, 5 - 5 * centre, size), 3)


def sign_vectors(count, exact, sampled):
    if count <= exact:
        return np.array(list(itertools.product([1, -1], repeat=count)), dtype=float)
    words = -(-count // 32)
    random = np.random.RandomState(SEED).randint(0, 2**32, size=(sampled, words), dtype=np.uint32)
    bits = (random[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    return np.vstack([np.ones(count), 2.0 * bits.reshape(sampled, -1)[:, :count] - 1])


def flips(sums, sizes, exact, sampled):
    """The p-value, and the first and the last difference that has one over 0.05."""
    signs = sign_vectors(len(sums), exact, sampled)
    signed_sums, signed_sizes = signs @ sums, signs @ sizes
    tie = 1e-12 * max(1, np.abs(sums).sum())

    def p_at(theta):
        return np.mean(np.abs(signed_sums - theta * signed_sizes) >= abs(sums.sum() - theta * sizes.sum()) - tie)

    def last_kept(rejected, kept):
        if p_at(rejected) > 0.05:
            return rejected
        for _ in range(60):
            middle = (rejected + kept) / 2
            rejected, kept = (rejected, middle) if p_at(middle) > 0.05 else (middle, kept)
        return kept

    mean, means = sums.sum() / sizes.sum(), sums / sizes
    if len(sums) < 6 or np.ptp(means) <= 1e-12 * abs(means[0]):
        return {"p_value": float(p_at(0)), "interval": None}
    return {"p_value": float(p_at(0)), "interval": [last_kept(-1.0, mean), last_kept(1.0, mean)]}


def paired(name, sizes, draw, shift, unequal=0.0, digits=3):
    clusters = []
    for index, size in enumerate(sizes):
        centre = 0.15 * draw.standard_normal() + shift + unequal * index
        clusters.append(np.round(np.clip(centre + 0.3 * draw.standard_normal(size), -1, 1), digits))
    return compared(name, clusters)


def compared(name, clusters):
    clusters = [np.asarray(one, dtype=float) for one in clusters]
    flat, df = np.concatenate(clusters), len(clusters) - 1
    sums, sizes = np.array([one.sum() for one in clusters]), np.array([len(one) for one in clusters], dtype=float)
    reach = (student.ppf(0.975, df) + student.ppf(0.8, df)) * jackknife_error(clusters) if df else 0.0
    means = [0.6 + flat.mean() / 2, 0.6 - flat.mean() / 2]
    lost = -means[1] if flat.mean() > 0 else means[0]
    after = flips(np.append(sums, lost * sizes.mean()), np.append(sizes, sizes.mean()), 20, 10_000)
    keeps_sign = flat.sum() * (sums.sum() + lost * sizes.mean()) > 0
    return {
        "kind": "paired", "name": name, "seed": SEED, "clusters": [one.tolist() for one in clusters], "difference": flat.mean(),
        **flips(sums, sizes, 20, 10_000), "stratum": flips(sums, sizes, 12, 999), "means": means,
        "survives": bool(keeps_sign and after["p_value"] < 0.05),
        "min_detectable": reach or None, "trajectories_for_1_point": max(2, math.ceil(len(sums) * (reach / 0.01) ** 2)) if reach else None,
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
    # Step k is the fitter's time k + 1.
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
    dominated = [np.repeat([1.0, 0.0], 20), *[[1.0, 1.0, 0.0]] * 7]
    lines = [
        {"kind": "t", "quantiles": [[p, df, float(student.ppf(p, df))] for p in (0.8, 0.975) for df in (0.5, 1, 1.2375, 2, 3.16, 9.5, 21, 24.99, 199, 2000.5)]},
        figures("verdicts of unequal trajectories", drawn(unequal, draw, True), True),
        figures("verdicts of equal trajectories", drawn([8] * 12, draw, True), True),
        figures("verdicts that seldom pass", drawn(unequal, draw, True, 1, 15), True),
        figures("verdicts that mostly pass", drawn(unequal, draw, True, 60, 1), True),
        figures("verdicts that all pass", [[1.0] * size for size in (3, 9, 1, 4, 4, 2)], True),
        figures("trajectories that are all alike", [[1.0, 1.0, 0.0]] * 12, True),
        figures("one trajectory that fails whole", [*[[1.0] * 4] * 11, [0.0] * 4], True),
        figures("half of the verdicts", [[1.0, 0.0], [1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0]], True),
        figures("one trajectory with most samples", dominated, True),
        figures("means of three repeats", [np.round(draw.integers(0, 4, size) / 3, 15) for size in unequal], True),
        figures("scores of unequal trajectories", drawn(unequal, draw, False), False),
        figures("scores of two trajectories", drawn([5, 9], draw, False), False),
        figures("scores that are all alike", [[0.25, 0.5], [0.5, 0.25, 0.375]], False),
        paired("a clear difference of 25 trajectories", unequal, draw, 0.12),
        paired("no difference of 60 trajectories", draw.integers(1, 12, 60).tolist(), draw, 0.0),
        paired("a loss of 70 trajectories", draw.integers(1, 12, 70).tolist(), draw, -0.2),
        paired("12 trajectories", draw.integers(1, 12, 12).tolist(), draw, -0.1),
        paired("13 trajectories that often tie", [4] * 13, draw, 0.2, digits=0),
        paired("20 equal trajectories", [4] * 20, draw, 0.05),
        paired("33 trajectories, the longer the better", list(range(1, 34)), draw, -0.3, 0.02),
        paired("eight trajectories, one of them long", [2, 3, 90, 4, 2, 2, 6, 3], draw, 0.3),
        paired("six trajectories", [3, 4, 5, 3, 2, 6], draw, 0.4),
        paired("two trajectories", [4, 5], draw, 0.2),
        compared("one trajectory", [[0.5, 0.25]]),
        compared("trajectories that all differ alike", [[0.25] * size for size in (1, 2, 3, 4, 5, 6, 7)]),
        compared("runs that do not differ", [[0.0] * size for size in (1, 2, 3, 4, 5, 6, 7)]),
        compared("four of forty that differ", [*[[1.0, 1.0]] * 4, *[[0.0, 0.0]] * 36]),
        holm([0.04, 0.001, 0.03, 0.9, 0.03, 0.5]),
        survival("60 trajectories", list(endings(60, draw, 25, 0.1))),
        survival("trajectories that seldom diverge", list(endings(40, draw, 12, 0.03))),
        survival("a recording that all end with a divergence", list(endings(30, draw, 1000, 0.25))),
        bootstrap("30 trajectories of 4 repeats", repeated),
    ]  # fmt: skip
    for line in lines:
        print(json.dumps(line, separators=(",", ":")))


main()
