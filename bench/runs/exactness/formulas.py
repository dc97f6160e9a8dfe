"""The formulas of docs/statistics.md with numpy and scipy, in other ways than the server's where there are any."""

import functools
import math
import statistics

import numpy as np
from scipy.optimize import brentq
from scipy.stats import t as student

Z = statistics.NormalDist().inv_cdf(0.975)
RESAMPLES = 2000
MOST_RESAMPLED_STEPS = 1000
SEED = 1
ROUNDING = 1e-12
LEVEL = 0.05
FEWEST = 6
# All signs of up to this many clusters, otherwise this many random ones.
OVERALL, STRATA = (20, 10_000), (12, 999)


def bounds(lower, upper):
    return {"level": 0.95, "lower": float(lower), "upper": float(upper)}


def in_clusters(values, groups):
    """Number and sum of each cluster's values."""
    numbers = np.unique(groups, return_inverse=True)[1]
    return np.bincount(numbers).astype(float), np.bincount(numbers, weights=values)


def jackknife_error(sizes, sums):
    """By leaving out each cluster. Null for fewer than two; what rounding leaves of a cluster that does not differ is 0."""
    if len(sizes) < 2:
        return None
    mean = sums.sum() / sizes.sum()
    others = sizes.sum() - sizes
    moved = np.array([np.delete(sums, g).sum() / others[g] - mean for g in range(len(sizes))])
    moved[np.abs(moved) * others <= 1e-9 * sizes] = 0.0
    return math.sqrt((len(sizes) - 1) / len(sizes) * np.sum(moved**2))


def effective(sizes):
    return float(1 / np.sum((sizes / sizes.sum()) ** 2))


def wilson(rate, trials, degrees):
    """Both r at which |rate - r| = t * sqrt(r (1 - r) / trials)."""
    if degrees < 0.01:
        return bounds(0, 1)
    critical = student.ppf(0.975, degrees)
    if rate in (0, 1):
        end = trials / (trials + critical**2)
        return bounds(0, 1 - end) if rate == 0 else bounds(end, 1)
    # Divided by t, which may be large.
    off = lambda r: ((rate - r) / critical) ** 2 - r * (1 - r) / trials  # noqa: E731
    return bounds(brentq(off, 0, rate, xtol=1e-15), brentq(off, rate, 1, xtol=1e-15))


def rate_interval(sizes, sums, error):
    if error is None:
        return None
    count, rate, weigh = sizes.sum(), sums.sum() / sizes.sum(), effective(sizes)
    rarer = sums if rate < 0.5 - ROUNDING else sizes - sums
    seen_in = 1 / np.sum((rarer / rarer.sum()) ** 2) if rarer.sum() > 0 else 0.0
    # How much more the rate varies than one of independent verdicts.
    seen = error**2 / (rate * (1 - rate) / count) if 0 < rate < 1 else 0.0
    effect = np.average([seen, count / weigh], weights=[seen_in, 0.2])
    return wilson(rate, count / max(1.0, effect), weigh - 1)


def score_interval(sizes, sums, error):
    if error is None:
        return None
    mean, weigh = min(1.0, sums.sum() / sizes.sum()), effective(sizes)
    return wilson(mean, mean * (1 - mean) / error**2 if error else weigh, weigh - 1)


def without_rounding(sizes, sums):
    return np.where(np.abs(sums) <= ROUNDING * sizes, 0.0, sums)


def are_alike(sizes, sums):
    means = without_rounding(sizes, sums) / sizes
    return bool(np.all(np.abs(means - means[0]) <= ROUNDING * abs(means[0])))


def signed_sums(values):
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


@functools.lru_cache(maxsize=200)
def random_signs(clusters, sampled):
    """The bits of the Mersenne Twister's words, the lowest first; and the signs that change nothing."""
    words = -(-clusters // 32)
    random = np.random.RandomState(SEED).randint(0, 2**32, size=(sampled, words), dtype=np.uint32)
    bits = (random[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    return np.vstack([np.ones(clusters), 2.0 * bits.reshape(sampled, -1)[:, :clusters] - 1])


def paired_difference(sizes, sums, vectors):
    """`sums` are the clusters' sums of differences. The interval is searched for: the last differences with a p-value over 0.05."""
    if len(sizes) == 0:
        return {"difference": None, "p_value": None, "interval": None}
    sums, (most, sampled) = without_rounding(sizes, sums), vectors
    if len(sizes) <= most:
        signed, signed_sizes = signed_sums(sums), signed_sums(sizes)
    else:
        signs = random_signs(len(sizes), sampled)
        signed, signed_sizes = signs @ sums, signs @ sizes
    tie = ROUNDING * max(1.0, np.abs(sums).sum())

    def p_at(theta):
        return float(np.mean(np.abs(signed - theta * signed_sizes) >= abs(sums.sum() - theta * sizes.sum()) - tie))

    def last_kept(rejected, kept):
        if p_at(rejected) > LEVEL:
            return rejected
        while abs(rejected - kept) > 1e-13:
            middle = (rejected + kept) / 2
            rejected, kept = (rejected, middle) if p_at(middle) > LEVEL else (middle, kept)
        return kept

    difference = float(sums.sum() / sizes.sum())
    has_interval = len(sizes) >= FEWEST and not are_alike(sizes, sums)
    return {
        "difference": difference, "p_value": p_at(0.0),
        "interval": bounds(last_kept(-1.0, difference), last_kept(1.0, difference)) if has_interval else None,
    }  # fmt: skip


def survives_one_failure(sizes, sums, reference, candidate):
    """With one more cluster of the mean length, in which the better run scores 0 and the other its mean."""
    lost = sizes.mean() * (-reference if sums.sum() > 0 else candidate)
    one = paired_difference(np.append(sizes, sizes.mean()), np.append(sums, lost), OVERALL)
    return one["difference"] * sums.sum() > 0 and one["p_value"] < LEVEL


def holm(values):
    tested = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted = [None] * len(values)
    for rank, (_, place) in enumerate(tested):
        adjusted[place] = max(min(1.0, (len(tested) - earlier) * tested[earlier][0]) for earlier in range(rank + 1))
    return adjusted


def detectable(error, clusters):
    if not error:
        return None, None
    reach = float((student.ppf(0.975, clusters - 1) + student.ppf(0.8, clusters - 1)) * error)
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
