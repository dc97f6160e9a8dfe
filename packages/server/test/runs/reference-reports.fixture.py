"""Makes `reference-reports.fixture.jsonl`: seeded runs with the figures that reports and comparisons have to show for them.

    python3 -m venv /tmp/statistics && /tmp/statistics/bin/pip install numpy==2.4.6 statsmodels==0.15.0
    /tmp/statistics/bin/python reference-reports.fixture.py > reference-reports.fixture.jsonl

Everything is computed from the verdicts with numpy, statsmodels' CR1 and scipy's t, and with matrices of signs for the permutation test.
"""

import itertools
import json
import math

import numpy as np
import statsmodels.api as sm
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

SEED = 20261123
PERMUTATION_SEED = 1
VERBS = ["look", "open", "take", "go", "other"] + [f"verb{i}" for i in range(50)]


def draw_samples(draw, trajectories, longest):
    rows = []
    for number in range(trajectories):
        for step in range(int(draw.integers(1, longest + 1))):
            changes = None if draw.random() < 0.05 else int(draw.choice([0, 0, 1, 2, 3, 6, 7, 12]))
            tags = {"split": str(draw.choice(["train", "test"]))}
            if draw.random() < 0.2:
                tags["rare"] = "yes"
            rows.append({"trajectory": f"t{number}", "step": step, "changes": changes, "verb": str(draw.choice(VERBS)), "tags": tags})
    return rows


def draw_run(draw, samples, repeats, shift):
    """For each sample and repeat: [score, pass], "failed" for a prediction, "error" for an evaluator. And the unchanged state's."""
    centres = {}
    outcomes, unchanged = [], []
    for sample in samples:
        centre = centres.setdefault(sample["trajectory"], draw.beta(2, 1.5))
        own = []
        for _ in range(repeats):
            luck = draw.random()
            score = round(float(np.clip(centre + shift + 0.3 * draw.standard_normal(), 0, 1)), 3)
            own.append("failed" if luck < 0.04 else "error" if luck < 0.07 else [score, int(score >= 0.5)])
        outcomes.append(own)
        unchanged.append(None if draw.random() < 0.1 else [round(float(draw.random()), 3), int(draw.integers(0, 2))])
    return {"repeats": repeats, "outcomes": outcomes, "unchanged": unchanged}


def values(run):
    """Score and pass of each sample with a verdict, and both if failures are zero."""
    score, passed, zero, zero_passed, failed = [], [], [], [], []
    for own in run["outcomes"]:
        judged = [one for one in own if isinstance(one, list)]
        failed.append(len(own) - len(judged))
        score.append(np.mean([one[0] for one in judged]) if judged else np.nan)
        passed.append(np.mean([one[1] for one in judged]) if judged else np.nan)
        zero.append(sum(one[0] for one in judged) / len(own))
        zero_passed.append(sum(one[1] for one in judged) / len(own))
    return tuple(np.array(one, dtype=float) for one in (score, passed, zero, zero_passed, failed))


def error_of(flat, groups):
    fit = sm.OLS(flat, np.ones(len(flat))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    return float(fit.bse[0])


def figures(samples, run, chosen):
    score, passed, zero, zero_passed, failed = (one[chosen] for one in values(run))
    names = np.array([samples[i]["trajectory"] for i in chosen])
    there = ~np.isnan(score)
    groups = np.unique(names[there], return_inverse=True)[1]
    count, clusters = int(there.sum()), len(np.unique(groups))
    unchanged = [run["unchanged"][i] for i, has in zip(chosen, there) if has and run["unchanged"][i] is not None and isinstance(run["outcomes"][i][0], list)]
    found = {
        "count": count, "failed": int(failed.sum()), "trajectories": clusters,
        "mean": None, "standard_error": None, "interval": None, "pass_rate": None, "pass_standard_error": None, "pass_interval": None,
        "mean_failures_as_zero": zero.mean(), "pass_rate_failures_as_zero": zero_passed.mean(),
        "no_change": [np.mean([one[0] for one in unchanged]), np.mean([one[1] for one in unchanged]), len(unchanged)] if unchanged else None,
    }  # fmt: skip
    if count == 0:
        return found
    y, p = score[there], passed[there]
    found["mean"], found["pass_rate"] = y.mean(), p.mean()
    if clusters < 2:
        return found
    c = student.ppf(0.975, clusters - 1)
    error = error_of(y, groups)
    found["standard_error"] = error
    found["interval"] = [max(0, y.mean() - c * error), min(1, y.mean() + c * error)]
    error, rate = error_of(p, groups), p.mean()
    # What is left of no difference between clusters is rounding.
    error = 0.0 if error < 1e-10 else error
    found["pass_standard_error"] = error
    trials = clusters if error == 0 else min(count, rate * (1 - rate) / error**2)
    roots = np.roots([1 + c**2 / trials, -2 * rate - c**2 / trials, rate * rate]).real
    found["pass_interval"] = sorted(float(root) for root in roots)
    return found


def change_key(changes):
    if changes is None:
        return "unknown"
    return "0" if changes == 0 else "1-2" if changes < 3 else "3-6" if changes < 7 else "7+"


def report(samples, run):
    counts = {}
    for sample in samples:
        counts[sample["verb"]] = counts.get(sample["verb"], 0) + 1
    counts.pop("other", None)
    frequent = sorted(counts, key=lambda verb: (-counts[verb], verb))[:50]
    keys = {
        "step": lambda s: [s["step"]],
        "trajectory": lambda s: [s["trajectory"]],
        "changed": lambda s: ["unknown" if s["changes"] is None else "changed" if s["changes"] else "unchanged"],
        "changes": lambda s: [change_key(s["changes"])],
        "verb": lambda s: [s["verb"] if s["verb"] in frequent else "other"],
        "tag": lambda s: [f"{name}={text}" for name, text in s["tags"].items()],
    }
    strata = {}
    for name, keys_of in keys.items():
        chosen = {}
        for index, sample in enumerate(samples):
            for key in keys_of(sample):
                chosen.setdefault(key, []).append(index)
        strata[name] = [[key, figures(samples, run, some)] for key, some in chosen.items()]
    return {"overall": figures(samples, run, list(range(len(samples)))), "strata": strata}


def paired(sums, sizes):
    g, n = len(sums), sizes.sum()
    difference = sums.sum() / n
    if g < 2:
        return {"difference": difference, "p_value": None, "interval": None}
    alike = np.ptp(sums) < 1e-12 or np.ptp(sums / sizes) < 1e-12
    if alike:
        p_value = 1.0 if abs(sums[0]) < 1e-12 else 2.0 ** (1 - g)
    else:
        p_value = float(2 * student.sf(abs(sums.mean()) / (sums.std(ddof=1) / math.sqrt(g)), g - 1))
    c = student.ppf(0.975, g - 1) ** 2 * g / (g - 1)
    dd, dn, nn = np.cov(sums, sizes, bias=True)[[0, 0, 1], [0, 1, 1]] * g
    square = n**2 - c * nn
    if square <= 0 or (g < 6 and alike):
        return {"difference": difference, "p_value": p_value, "interval": None}
    # The roots of square θ² − 2 half θ + rest.
    half, rest = n * sums.sum() - c * dn, sums.sum() ** 2 - c * dd
    root = math.sqrt(max(0.0, half**2 - square * rest))
    return {"difference": difference, "p_value": p_value, "interval": [(half - root) / square, (half + root) / square]}


def permutation(sums):
    reached = abs(sums.sum()) - 1e-12 * max(1, np.abs(sums).sum())
    if len(sums) <= 20:
        signs = np.array(list(itertools.product([-1, 1], repeat=len(sums))))
        return float(np.mean(np.abs(signs @ sums) >= reached))
    words = -(-len(sums) // 32)
    random = np.random.RandomState(PERMUTATION_SEED).randint(0, 2**32, size=(10_000, words), dtype=np.uint32)
    bits = (random[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    signs = 2.0 * bits.reshape(10_000, -1)[:, : len(sums)] - 1
    return float((1 + np.sum(np.abs(signs @ sums) >= reached)) / 10_001)


def in_clusters(samples, difference, chosen):
    names = list(dict.fromkeys(samples[i]["trajectory"] for i in chosen))
    sums = np.array([sum(difference[i] for i in chosen if samples[i]["trajectory"] == name) for name in names])
    sizes = np.array([sum(samples[i]["trajectory"] == name for i in chosen) for name in names], dtype=float)
    return sums, sizes


def compare(samples, reference, candidates, matches):
    """`matches` has for each candidate the place of each sample in its own revision, or None."""
    first = values(reference)
    others = []
    for candidate, match in zip(candidates, matches):
        own = values(candidate)
        others.append([np.array([np.nan if place is None else one[place] for place in match]) for one in own])
    every = [first, *others]
    judged = [i for i in range(len(samples)) if not any(np.isnan(one[0][i]) for one in every)]
    ended = [i for i in range(len(samples)) if not any(np.isnan(one[2][i]) for one in every)]
    found = []
    for own in others:
        difference = own[0] - first[0]
        sums, sizes = in_clusters(samples, difference, judged)
        flat = difference[judged]
        groups = np.unique([samples[i]["trajectory"] for i in judged], return_inverse=True)[1]
        reach = (student.ppf(0.975, len(sums) - 1) + student.ppf(0.8, len(sums) - 1)) * error_of(flat, groups)
        strata = {}
        for name, key_of in (("step", lambda s: s["step"]), ("changes", lambda s: change_key(s["changes"]))):
            strata[name] = []
            for key in dict.fromkeys(key_of(samples[i]) for i in judged):
                some = [i for i in judged if key_of(samples[i]) == key]
                strata[name].append([key, {"count": len(some), "reference_mean": first[0][some].mean(), "mean": own[0][some].mean(), **paired(*in_clusters(samples, difference, some))}])
        found.append({
            "mean": own[0][judged].mean(), "pass_rate": own[1][judged].mean(), "count": len(judged), "trajectories": len(sums),
            **paired(sums, sizes), "p_permutation": permutation(sums),
            "wins": int((flat > 1e-12).sum()), "losses": int((flat < -1e-12).sum()), "ties": int((np.abs(flat) <= 1e-12).sum()),
            "only_in_reference": int((~np.isnan(first[0]) & np.isnan(own[0])).sum()),
            "only_in_candidate": int((np.isnan(first[0]) & ~np.isnan(own[0])).sum()),
            "mean_failures_as_zero": own[2][ended].mean(), "difference_failures_as_zero": (own[2] - first[2])[ended].mean(),
            "min_detectable": reach, "trajectories_for_1_point": max(2, math.ceil(len(sums) * (reach / 0.01) ** 2)), "strata": strata,
        })  # fmt: skip
    for one, adjusted in zip(found, multipletests([one["p_value"] for one in found], method="holm")[1]):
        one["p_adjusted"] = float(adjusted)
    return {
        "reference": {"mean": first[0][judged].mean(), "pass_rate": first[1][judged].mean(), "count": len(judged), "mean_failures_as_zero": first[2][ended].mean()},
        "candidates": found,
    }  # fmt: skip


def main():
    draw = np.random.default_rng(SEED)
    samples = draw_samples(draw, 24, 7)
    reference, second, third = draw_run(draw, samples, 1, 0.1), draw_run(draw, samples, 1, 0), draw_run(draw, samples, 3, 0.05)
    same = list(range(len(samples)))
    # Another revision: in another order, without some samples and with one that is new.
    order = [int(place) for place in draw.permutation(len(samples))[10:]]
    moved = [samples[place] for place in order] + [{"trajectory": "new", "step": 0, "changes": 0, "verb": "go", "tags": {}}]
    fourth = draw_run(draw, moved, 2, -0.1)
    match = [order.index(place) if place in order else None for place in same]
    few = draw_samples(draw, 8, 4)
    rare = [draw_run(draw, few, 1, 0), draw_run(draw, few, 1, 0.1)]
    cases = [
        ("three runs of one revision", samples, [[samples, reference], [samples, second], [samples, third]], [same, same]),
        ("runs of two revisions", samples, [[samples, reference], [moved, fourth]], [match]),
        ("few trajectories", few, [[few, rare[0]], [few, rare[1]]], [list(range(len(few)))]),
    ]
    for name, base, runs, matches in cases:
        revisions = [base] + [own for own, _ in runs if own is not base][:1]
        line = {
            "name": name,
            "revisions": revisions,
            "runs": [{"revision": int(own is not base), "run": run, "report": report(own, run)} for own, run in runs],
            "comparison": compare(base, runs[0][1], [run for _, run in runs[1:]], matches),
        }
        print(json.dumps(line, separators=(",", ":")))


main()
