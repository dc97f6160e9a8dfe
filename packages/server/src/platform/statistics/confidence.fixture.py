"""Makes `confidence.fixture.jsonl`: seeded confidences and scores with the figures that `docs/statistics.md` defines for them.

    python3 -m venv /tmp/confidence && /tmp/confidence/bin/pip install numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 statsmodels==0.15.0
    /tmp/confidence/bin/python confidence.fixture.py > confidence.fixture.jsonl

Each figure without a trajectory is the whole figure of the other predictions, recomputed. Isotonic regression, AUROC and the Brier score are
scikit-learn's. The script stops if statsmodels' logistic regression without a ridge differs by more than the ridge lets it, or its Wilson
bounds at all.
"""

import json
import math

import numpy as np
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from statsmodels.stats.proportion import proportion_confint

SEED = 20261128
RIDGE = 1e-3
NEAREST = 1e-3


def logit(scores):
    clipped = np.clip(scores, NEAREST, 1 - NEAREST)
    return np.log(clipped / (1 - clipped))


def platt_targets(right):
    positive, negative = right.sum(), len(right) - right.sum()
    return np.where(right == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))


def logistic(scores, right):
    """Minimises the cross entropy with a ridge on the weights, by a general minimiser and then Newton's steps."""
    rows, targets = np.column_stack([logit(scores), np.ones(len(right))]), platt_targets(right)
    penalty = np.diag([RIDGE] * scores.shape[1] + [0.0])
    loss = lambda w: np.sum(np.logaddexp(0, rows @ w) - targets * (rows @ w)) + w @ penalty @ w / 2  # noqa: E731
    found = minimize(loss, np.zeros(rows.shape[1]), method="BFGS").x
    for _ in range(30):
        p = 1 / (1 + np.exp(-rows @ found))
        found = found - np.linalg.solve((rows * (p * (1 - p))[:, None]).T @ rows + penalty, rows.T @ (p - targets) + penalty @ found)
    known = sm.GLM(targets, rows, family=sm.families.Binomial()).fit(tol=1e-14).params
    assert np.allclose(found, known, atol=0.02), (found, known)
    return found


def wilson(rate, trials, critical):
    half, root = critical**2 / (2 * trials), critical * math.sqrt(rate * (1 - rate) / trials + (critical / (2 * trials)) ** 2)
    bounds = [(rate + half - root) / (1 + 2 * half), (rate + half + root) / (1 + 2 * half)]
    # Beyond this, the level is 0 in a double.
    known = proportion_confint(rate * trials, trials, alpha=2 * norm.sf(critical), method="wilson") if critical < 8 else bounds
    assert np.allclose(bounds, known, atol=1e-9), (bounds, known)
    return bounds


def effective(of):
    shares = np.unique(of, return_counts=True)[1] / len(of)
    return float(1 / np.sum(shares**2))


def rate_interval(values, of):
    """1.2 of the specification: the bounds of a share of verdicts."""
    groups = np.unique(of)
    if len(groups) < 2:
        return None
    n, rate, weigh = len(values), values.mean(), effective(of)
    without = np.array([values[of != g].mean() for g in groups])
    error2 = (len(groups) - 1) / len(groups) * np.sum((without - rate) ** 2)
    rarer = np.array([(values[of == g] if rate < 0.5 else 1 - values[of == g]).sum() for g in groups])
    seen_in = rarer.sum() ** 2 / np.sum(rarer**2) if rarer.sum() > 0 else 0.0
    seen = n * error2 / (rate * (1 - rate)) if rarer.sum() > 0 else 0.0
    deff = max(1, (seen_in * seen + 0.2 * n / weigh) / (seen_in + 0.2))
    return wilson(rate, n / deff, student(weigh - 1).ppf(0.975))


def figure(make, c, y, of):
    value = make(c, y)
    groups = np.unique(of)
    if len(groups) < 6:
        return [value, None]
    try:
        without = np.array([make(c[of != g], y[of != g]) for g in groups])
    except ValueError:
        return [value, None]
    if np.isnan(without).any():
        return [value, None]
    error = math.sqrt((len(groups) - 1) / len(groups) * np.sum((without - without.mean()) ** 2))
    weigh = effective(of)
    return [value, wilson(value, weigh if error < 1e-12 else value * (1 - value) / error**2, student(weigh - 1).ppf(0.975))]


def bins(c):
    """15 bins of equal count, by the number of lower confidences."""
    lower = np.array([np.sum(c < one) for one in c])
    return 15 * lower // len(c)


def calibration_error(c, y):
    of = bins(c)
    return float(sum(abs(y[of == b].sum() - c[of == b].sum()) for b in np.unique(of)) / len(c))


def auroc(c, y):
    return float("nan") if len(np.unique(y)) < 2 else float(roc_auc_score(y, c))


def area_under_risk(c, y):
    return float(np.mean([1 - y[c >= one].mean() for one in c]))


def card(c, y, of):
    bin_of = bins(c)
    parts = np.array([[np.sum(bin_of == b), c[bin_of == b].mean(), y[bin_of == b].mean()] for b in np.unique(bin_of)])
    share = parts[:, 0] / len(c)
    draws = np.random.default_rng(SEED)
    drawn = [calibration_error(c, (draws.random(len(c)) < c).astype(float)) for _ in range(1000)]
    thresholds = np.unique(c)[::-1]
    risks = [[float(np.mean(c >= t)), float(1 - y[c >= t].mean()), rate_interval(1 - y[c >= t], of[c >= t])] for t in thresholds]
    allowed = [coverage for coverage, _, interval in risks if interval is not None and interval[1] <= 0.05]
    return {
        "brier": figure(lambda c, y: float(brier_score_loss(y, c)), c, y, of),
        "parts": [
            float(np.sum(share * (parts[:, 1] - parts[:, 2]) ** 2)),
            float(np.sum(share * (parts[:, 2] - y.mean()) ** 2)),
            float(y.mean() * (1 - y.mean())),
        ],
        "ece": figure(calibration_error, c, y, of),
        "expected": [float(np.mean(drawn)), float(np.std(drawn) / math.sqrt(1000))],
        "auroc": figure(auroc, c, y, of),
        "aurc": figure(area_under_risk, c, y, of),
        "reliability": [
            [float(n), float(mean), float(rate), rate_interval(y[bin_of == b], of[bin_of == b])]
            for b, (n, mean, rate) in zip(np.unique(bin_of), parts)
        ],
        "risks": risks,
        "coverage_at_risk": max(allowed, default=0.0),
    }


def made(rng, trajectories, shape, digits, longest):
    """Confidences and verdicts of trajectories that share a difficulty."""
    c, y, of = [], [], []
    for g in range(trajectories):
        ease = rng.normal(0, 0.7)
        for _ in range(rng.integers(1, longest)):
            p = 1 / (1 + math.exp(-(shape + ease + rng.normal(0, 1.5))))
            c.append(round(p**0.6, digits))
            y.append(float(rng.random() < p))
            of.append(g)
    return np.array(c), np.array(y), np.array(of)


def shorter(value):
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, (list, tuple)):
        return [shorter(one) for one in value]
    return {key: shorter(one) for key, one in value.items()} if isinstance(value, dict) else value


def print_line(line):
    print(json.dumps(shorter(line), separators=(",", ":")))


def main():
    rng = np.random.default_rng(SEED)
    designs = {
        "continuous": (30, 0.5, 6, 12),
        "five values": (25, 0.5, 1, 12),
        "rarely right": (40, -2.0, 4, 8),
        "nearly always right": (120, 3.8, 4, 6),
        "unequal": (12, 0.5, 3, 60),
        "few trajectories": (4, 0.5, 3, 60),
    }
    for name, design in designs.items():
        c, y, of = made(rng, *design)
        of = np.unique(of, return_inverse=True)[1]
        order = rng.permutation(len(c))
        c, y, of = c[order], y[order], of[order]
        data = {"confidences": c.tolist(), "right": y.astype(int).tolist(), "trajectories": of.tolist()}
        print_line({"kind": "card", "name": name, **data, **card(c, y, of)})
    grid = np.round(np.linspace(0, 1, 41), 3)
    for name, design in list(designs.items())[:3]:
        c, y, of = made(rng, *design)
        table = IsotonicRegression(out_of_bounds="clip").fit(c, y)
        curve = table.predict(grid).tolist()
        print_line({"kind": "isotonic", "name": name, "scores": c.tolist(), "right": y.astype(int).tolist(), "curve": curve})
    for methods in (1, 3):
        c, y, of = made(rng, 30, 0.5, 4, 10)
        scores = np.column_stack([np.round(np.clip(c + rng.normal(0, 0.15 * m, len(c)), 0, 1), 4) for m in range(methods)])
        fitted = logistic(scores, y).tolist()
        print_line({"kind": "logistic", "scores": scores.tolist(), "right": y.astype(int).tolist(), "fitted": fitted})


main()
