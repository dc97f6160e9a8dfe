"""What reports and comparisons say, from what became of each sample."""

import math

import numpy as np
from formulas import (
    FEWEST,
    LEVEL,
    OVERALL,
    STRATA,
    are_alike,
    detectable,
    effective,
    holm,
    in_clusters,
    jackknife_error,
    paired_difference,
    rate_interval,
    score_interval,
    survives_one_failure,
    without_rounding,
)


def tally(outcomes):
    """Of each sample, from its repeats: [score or None, pass], "not_applicable", or how it failed. NaN where there is nothing."""
    rows = []
    for repeats in outcomes:
        judged = [one for one in repeats if not isinstance(one, str)]
        scores = [one[0] for one in judged if one[0] is not None]
        passes, not_applicable = sum(one[1] for one in judged), repeats.count("not_applicable")
        failed = len(repeats) - len(judged) - not_applicable
        rows.append({
            "graded": len(scores), "verdicts": len(judged), "failed": failed, "not_applicable": not_applicable,
            "score": share(sum(scores), len(scores)), "passed": share(passes, len(judged)),
            "zero": share(sum(scores), len(scores) + failed), "zero_passed": share(passes, len(judged) + failed),
            "apart": any(score not in (None, passed) for score, passed in judged),
        })  # fmt: skip
    return {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}


def share(of, count):
    return of / count if count else math.nan


def mean(values):
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


def percent(part):
    return f"{math.floor(100 * part + 0.5)} %"


def unseen_share(trajectories):
    return 1 - 0.05 ** (1 / trajectories) if trajectories else None


def note_on(sizes):
    if len(sizes) == 0:
        return None
    if len(sizes) == 1:
        return "One trajectory only: there is no interval."
    if effective(sizes) < 2:
        return f"One trajectory has {percent(sizes.max() / sizes.sum())} of the samples: the figure is mostly about it."
    if len(sizes) >= 60:
        return None
    return f"With {len(sizes)} trajectories, a kind that makes up {percent(unseen_share(len(sizes)))} of all may be missing here."


def figures(of, trajectory, places, unchanged):
    """`unchanged` has the verdicts on the state before the action, by place."""
    places = np.array(places, dtype=int)
    at = {name: values[places] for name, values in of.items()}
    judged, graded = ~np.isnan(at["passed"]), ~np.isnan(at["score"])
    sizes, passes = in_clusters(at["passed"][judged], trajectory[places][judged])
    graded_sizes, scores = in_clusters(at["score"][graded], trajectory[places][graded])
    error, pass_error = jackknife_error(graded_sizes, scores), jackknife_error(sizes, passes)
    interval = (score_interval if at["apart"].any() else rate_interval)(graded_sizes, scores, error)
    pass_interval, unseen = rate_interval(sizes, passes, pass_error), unseen_share(len(sizes))
    known = [unchanged[place] for place in places[judged] if place in unchanged]
    counts = {name: int(at[name].sum()) for name in ("verdicts", "graded", "failed", "not_applicable")}
    has_scores = counts["graded"] or not counts["verdicts"]
    return {
        "samples": len(places), "count": int(judged.sum()), "without_verdict": len(places) - int(judged.sum()), **counts,
        "trajectories": len(sizes), "effective_trajectories": effective(sizes) if len(sizes) else None,
        "mean": mean(at["score"]), "standard_error": error, "interval": interval,
        "pass_rate": mean(at["passed"]), "pass_standard_error": pass_error, "pass_interval": pass_interval,
        "unseen_share": unseen, "lower_if_missing": interval and interval["lower"] * (1 - unseen),
        "pass_lower_if_missing": pass_interval and pass_interval["lower"] * (1 - unseen),
        "mean_failures_as_zero": mean(at["zero"]) if has_scores else None, "pass_rate_failures_as_zero": mean(at["zero_passed"]),
        "no_change": {
            "mean": float(np.mean([one[0] for one in known])), "pass_rate": float(np.mean([one[1] for one in known])), "count": len(known),
        } if known else None,
        "note": note_on(sizes),
    }  # fmt: skip


def note_on_test(sizes, sums):
    if 0 < len(sizes) < FEWEST:
        are = "1 trajectory is" if len(sizes) == 1 else f"{len(sizes)} trajectories are"
        return f"{are} too few to tell a difference from chance: at least {FEWEST} are needed."
    alike = len(sizes) > 0 and are_alike(sizes, sums)
    return "All trajectories differ alike, which does not show how far others would." if alike else None


def compare(runs, trajectory, dimensions):
    """`runs` are tallies, the reference's first. Returns its figures, and each candidate's before what needs all p-values."""
    has = lambda values: not np.isnan(values).all()  # noqa: E731
    is_graded = lambda of: np.nansum(of["verdicts"] - of["graded"]) == 0  # noqa: E731
    has_scores = any(has(of["score"]) for of in runs) and all(is_graded(of) or not has(of["passed"]) for of in runs)
    name, with_failures = ("score", "zero") if has_scores else ("passed", "zero_passed")
    judged = np.flatnonzero(~np.any([np.isnan(of[name]) for of in runs], axis=0))
    ended = np.flatnonzero(~np.any([np.isnan(of[with_failures]) for of in runs], axis=0))

    def side(of):
        return {
            "mean": mean(of["score"][judged]) if has_scores else None, "pass_rate": mean(of["passed"][judged]),
            "count": len(judged), "mean_failures_as_zero": mean(of["zero"][ended]) if has_scores else None,
        }  # fmt: skip

    first, candidates = runs[0], []
    for of in runs[1:]:
        differences = of[name] - first[name]
        sizes, sums = in_clusters(differences[judged], trajectory[judged])
        paired = paired_difference(sizes, sums, OVERALL)
        reach, needed = detectable(jackknife_error(sizes, sums), len(sizes))
        is_found = paired["p_value"] is not None and paired["p_value"] < LEVEL
        strata = {}
        for dimension, places_of in dimensions.items():
            strata[dimension] = []
            for key, places in places_of.items():
                some = np.intersect1d(places, judged).astype(int)
                if len(some) == 0:
                    continue
                own = in_clusters(differences[some], trajectory[some])
                strata[dimension].append({
                    "key": key, "count": len(some), "trajectories": len(own[0]), "reference_mean": mean(first[name][some]),
                    "mean": mean(of[name][some]), **paired_difference(*own, STRATA),
                })  # fmt: skip
        candidates.append({
            **side(of), "trajectories": len(sizes), **paired, "p_permutation": paired["p_value"],
            "measure": "score" if has_scores else "pass_rate", "unseen_share": unseen_share(len(sizes)),
            "differing": int(np.count_nonzero(without_rounding(sizes, sums))),
            "survives": is_found and survives_one_failure(sizes, sums, first[name][judged].mean(), of[name][judged].mean()),
            "wins": int((differences[judged] > 1e-12).sum()), "losses": int((differences[judged] < -1e-12).sum()),
            "ties": int((np.abs(differences[judged]) <= 1e-12).sum()),
            "only_in_reference": int((~np.isnan(first[name]) & np.isnan(of[name])).sum()),
            "only_in_candidate": int((np.isnan(first[name]) & ~np.isnan(of[name])).sum()),
            "difference_failures_as_zero": mean((of[with_failures] - first[with_failures])[ended]),
            "min_detectable": reach, "trajectories_for_1_point": needed, "note": note_on_test(sizes, sums), "strata": strata,
        })  # fmt: skip
    return side(first), candidates


def decide(candidates):
    """Of all evaluators. What can never be significant is no test."""
    tests = [one["p_value"] if one["trajectories"] >= FEWEST else None for one in candidates]
    for one, adjusted in zip(candidates, holm(tests)):
        differing, survives = one.pop("differing"), one.pop("survives")
        is_decided = adjusted is not None and adjusted < LEVEL
        why = "few_trajectories" if one["trajectories"] < FEWEST else "few_differ" if differing < FEWEST else "within_noise"
        one["p_adjusted"] = adjusted
        one["outcome"] = ("better" if one["difference"] > 0 else "worse") if is_decided else "undecided"
        one["why"] = None if is_decided else why
        one["survives_one_failure"] = bool(survives) if is_decided else None
