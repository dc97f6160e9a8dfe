"""The formulas of docs/statistics.md with numpy alone, in other ways than the server's where there are any."""

import functools
import math
import statistics
from fractions import Fraction

import numpy as np

Z = statistics.NormalDist().inv_cdf(0.975)
RESAMPLES = 2000
MOST_RESAMPLED_STEPS = 1000
FLIPS = 10_000
SEED = 1
ROUNDING = 1e-12


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


@functools.cache
def t_quantile(p, df):
    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, df) > 2 * (1 - p) else (low, middle)
    return (low + high) / 2


def clustered_error(values, groups):
    """Null for fewer than two clusters; what rounding leaves of clusters that do not differ is 0."""
    count = len(np.unique(groups))
    if count < 2:
        return None
    sums = np.bincount(groups, weights=values - values.mean())
    error = math.sqrt(count / (count - 1) * np.sum(sums**2)) / len(values)
    return 0.0 if error < 1e-10 else error


def bounds(lower, upper):
    return {"level": 0.95, "lower": float(lower), "upper": float(upper)}


def mean_interval(values, groups):
    error = clustered_error(values, groups)
    if error is None:
        return None
    margin = t_quantile(0.975, len(np.unique(groups)) - 1) * error
    return bounds(max(0.0, values.mean() - margin), min(1.0, values.mean() + margin))


def rate_interval(values, groups):
    """Both θ with (rate − θ)² = c² θ (1 − θ) / trials."""
    error = clustered_error(values, groups)
    if error is None:
        return None
    clusters, rate = len(np.unique(groups)), values.mean()
    trials = clusters if error == 0 else min(len(values), rate * (1 - rate) / error**2)
    c = t_quantile(0.975, clusters - 1) ** 2 / trials
    lower, upper = sorted(np.roots([1 + c, -2 * rate - c, rate * rate]).real)
    return bounds(lower, upper)


def paired_difference(sums, sizes):
    """`sums` are the clusters' sums of differences."""
    clusters, count = len(sums), sizes.sum()
    if count == 0:
        return {"difference": None, "p_value": None, "interval": None}
    sums = np.where(np.abs(sums) <= ROUNDING * sizes, 0.0, sums)
    difference = sums.sum() / count
    if clusters < 2:
        return {"difference": difference, "p_value": None, "interval": None}
    are_alike = any(np.ptp(one) <= ROUNDING * np.abs(one).max() for one in (sums, sums / sizes))
    if are_alike:
        p_value = 1.0 if sums[0] == 0 else 2.0 ** (1 - clusters)
    else:
        p_value = two_sided(sums.mean() / (sums.std(ddof=1) / math.sqrt(clusters)), clusters - 1)
    # (Σ(D − θ n))² = c · Σ((D − θ n) − its mean)², as a θ² − 2 b θ + d = 0. In fractions, since b² − a d may be a rounding error.
    c = Fraction(t_quantile(0.975, clusters - 1)) ** 2 / (clusters - 1)
    dd, dn, nn = (moment(*one, clusters) for one in ((sums, sums), (sums, sizes), (sizes, sizes)))
    d_sum, n_sum = (sum(map(Fraction, one.tolist())) for one in (sums, sizes))
    a, b, d = n_sum**2 - c * nn, d_sum * n_sum - c * dn, d_sum**2 - c * dd
    if a <= 0 or (clusters < 6 and are_alike):
        return {"difference": difference, "p_value": p_value, "interval": None}
    root = math.sqrt(max(0, b * b - a * d))
    return {"difference": difference, "p_value": p_value, "interval": bounds((float(b) - root) / float(a), (float(b) + root) / float(a))}


def moment(one, other, clusters):
    """clusters · Σ(one − its mean)(other − its mean)"""
    one, other = (list(map(Fraction, values.tolist())) for values in (one, other))
    return clusters * sum(a * b for a, b in zip(one, other)) - sum(one) * sum(other)


def signed_sums(values):
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def permutation_p(sums):
    """Of all sign vectors for up to 20 clusters, otherwise of 10,000 whose signs are the bits of the Mersenne Twister's words."""
    if len(sums) == 0:
        return None
    reached = abs(sums.sum()) - ROUNDING * max(1.0, np.abs(sums).sum())
    if len(sums) <= 20:
        return float(np.mean(np.abs(signed_sums(sums)) >= reached))
    words = -(-len(sums) // 32)
    random = np.random.RandomState(SEED).randint(0, 2**32, size=(FLIPS, words), dtype=np.uint32)
    extreme = 0
    for rows in np.array_split(random, 20):
        bits = (rows[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
        signs = 2.0 * bits.reshape(len(rows), -1)[:, : len(sums)] - 1
        extreme += int(np.sum(np.abs(signs @ sums) >= reached))
    return (1 + extreme) / (1 + FLIPS)


def holm(values):
    tested = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted = [None] * len(values)
    for rank, (_, place) in enumerate(tested):
        adjusted[place] = max(min(1.0, (len(tested) - earlier) * tested[earlier][0]) for earlier in range(rank + 1))
    return adjusted


def detectable(error, clusters):
    if not error:
        return None, None
    reach = (t_quantile(0.975, clusters - 1) + t_quantile(0.8, clusters - 1)) * error
    return reach, max(2, math.ceil(clusters * (reach / 0.01) ** 2))


def first_divergence(outcomes, failures_diverge=False):
    """`outcomes` are pairs of a step and what became of it. Returns the last known step and how it ended."""
    last = None
    for step, outcome in outcomes:
        if outcome == "fail" or (outcome != "pass" and failures_diverge):
            return step, "diverged"
        if outcome != "pass":
            return last, outcome
        last = step
    return last, "recording_ended"


def survival_curve(trajectories):
    """`trajectories` has a list of endings, one for each repeat."""
    endings = [one for repeats in trajectories for one in repeats if one[0] is not None]
    rows, share, variance = [], 1.0, 0.0
    for step in sorted({last for last, _ in endings}):
        at_risk = sum(last >= step for last, _ in endings)
        ended = [how for last, how in endings if last == step]
        diverged = ended.count("diverged")
        share *= 1 - diverged / at_risk
        interval = None
        if 0 < share < 1:
            variance += diverged / (at_risk * (at_risk - diverged))
            # ln(−ln S) ± z √V / |ln S|
            centre, reach = math.log(-math.log(share)), Z * math.sqrt(variance) / abs(math.log(share))
            interval = bounds(math.exp(-math.exp(centre + reach)), math.exp(-math.exp(centre - reach)))
        rows.append({
            "step": step, "at_risk": at_risk, "diverged": diverged, "censored": len(ended) - diverged,
            "survival": share, "interval": interval,
        })  # fmt: skip
    median = next((row["step"] for row in rows if row["survival"] <= 0.5 + ROUNDING), None)
    return {"steps": rows, "median": median}


def bootstrap_curve(trajectories):
    """With repeats: percentiles of the curves of 2,000 resamples of trajectories, drawn by words of the Mersenne Twister."""
    curve = survival_curve(trajectories)
    counted = curve["steps"][:MOST_RESAMPLED_STEPS]
    place = {row["step"]: index for index, row in enumerate(counted)}
    shape = (len(trajectories), len(counted) + 1)
    leaving, diverging = np.zeros(shape), np.zeros(shape)
    for index, repeats in enumerate(trajectories):
        for last, how in repeats:
            if last is None:
                continue
            leaving[index, place.get(last, len(counted))] += 1
            diverging[index, place.get(last, len(counted))] += how == "diverged"
    for row in curve["steps"]:
        row["interval"] = None
    if len(trajectories) < 2 or not counted:
        return curve
    words = np.random.RandomState(SEED).randint(0, 2**32, size=(RESAMPLES, len(trajectories)), dtype=np.uint32)
    drawn = np.floor(words / 2**32 * len(trajectories)).astype(int)
    left, diverged = leaving[drawn].sum(axis=1), diverging[drawn].sum(axis=1)
    at_risk = left[:, ::-1].cumsum(axis=1)[:, ::-1][:, :-1]
    hazards = np.divide(diverged[:, :-1], at_risk, out=np.zeros_like(at_risk), where=at_risk > 0)
    shares = np.cumprod(1 - hazards, axis=1)
    for row, column in zip(counted, shares.T):
        if 0 < row["survival"] < 1:
            row["interval"] = bounds(*(float(np.quantile(column, p)) for p in (0.025, 0.975)))
    return curve
