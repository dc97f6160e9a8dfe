"""Computes all figures of reports and comparisons from exports, and says where the server's are others.

    python3 check_figures.py JOB.json

The job names files by their paths: `runs`, each with its `label`, `samples` (its revision's export), `export` and `report`, and
`comparisons`, each with the labels of its `runs` and its `answer`. Counts have to be equal, everything else within 1e-9. Needs numpy and
scipy. Writes a summary as JSON, and the first disagreements.
"""

import json
import math
import sys
from datetime import datetime

import numpy as np
from figures import compare, decide, figures, tally
from formulas import bootstrap_curve, first_divergence, survival_curve
from run_data import Run, Samples, action_of, baseline_predictions, changed_lines, exact_match, read_lines, verb_of

TOLERANCE = 1e-9
MOST_TRAJECTORIES = 200
FIXED = ("changed", "changes")


class Check:
    def __init__(self):
        self.compared, self.largest, self.problems = 0, 0.0, []

    def equal(self, where, wanted, found):
        if isinstance(wanted, dict):
            for key, value in wanted.items():
                self.equal(f"{where}.{key}", value, found.get(key, "nothing") if isinstance(found, dict) else "nothing")
            return
        self.compared += 1
        # Counts are integers on both sides.
        if isinstance(wanted, float) and isinstance(found, (int, float)):
            difference = abs(wanted - found)
            self.largest = max(self.largest, difference)
            if difference <= TOLERANCE:
                return
        elif wanted == found and isinstance(wanted, bool) == isinstance(found, bool):
            return
        self.problems.append(f"{where}: computed {wanted!r}, the server has {found!r}")

    def keys(self, where, wanted, found):
        self.equal(f"{where}, keys", list(wanted), [one["key"] for one in found])


def names_of(one):
    return one["evaluator"], one["profile_name"]


def unchanged_of(run, baseline, evaluator):
    """The no-change run's verdicts, for the samples of which a repeat was judged."""
    found = {}
    for place in range(run.samples.count):
        one = baseline.verdict(evaluator, place, 0)
        is_judged = any(run.verdict(evaluator, place, repeat) is not None for repeat in range(run.repeats))
        if is_judged and one is not None and one["status"] == "success":
            found[place] = one["score"], bool(one["pass"])
    return found


def check_outcomes(check, where, run, evaluator, found, baseline):
    of, trajectory = tally(run.outcomes(evaluator)), run.samples.trajectory_number
    unchanged = {} if run.run["mode"] == "free-running" else unchanged_of(run, baseline, evaluator)
    check.equal(where, figures(of, trajectory, range(run.samples.count), unchanged), found)
    for name, places_of in run.samples.dimensions().items():
        # Groups of samples without a verdict of the evaluator are not shown.
        known = {key: places for key, places in places_of.items() if (of["verdicts"] + of["failed"])[places].sum() > 0}
        if name == "trajectory":
            check.equal(f"{where}.strata_left_out.trajectory", max(0, len(known) - MOST_TRAJECTORIES), found["strata_left_out"]["trajectory"])
            strata = found["strata"]["trajectory"]
            means = [one["mean_failures_as_zero"] for one in strata]
            check.equal(f"{where}.trajectory, worst first", True, means == sorted(means) and len(strata) == min(len(known), MOST_TRAJECTORIES))
        else:
            shown = [key for key in places_of if key in known or (name in FIXED and key != "unknown")]
            check.keys(f"{where}.{name}", shown, found["strata"][name])
        for one in found["strata"][name]:
            part = f"{where}.{name}={one['key']}"
            check.equal(part, figures(of, trajectory, places_of.get(one["key"], []), unchanged), one)


def check_survival(check, where, run, evaluator, found):
    endings, bound = [], []
    for places in run.samples.trajectories.values():
        repeats = [
            [(run.samples.step[place], how) for place in places if (how := run.outcome(evaluator, place, repeat)) != "not_applicable"]
            for repeat in range(run.repeats)
        ]
        endings.append([first_divergence(one) for one in repeats])
        bound.append([first_divergence(one, failures_diverge=True) for one in repeats])
    how = [one for some in endings for _, one in some]
    curve = bootstrap_curve if run.repeats > 1 else survival_curve
    wanted = {
        "trajectories": len(how),
        "endings": {key: how.count(key) for key in ("diverged", "recording_ended", "prediction_failed", "evaluator_failed")},
    }
    check.equal(where, wanted, found)
    for name, own, its in (("survival", curve(endings), found), ("bound", curve(bound), found["failures_as_divergence"])):
        check.equal(f"{where}.{name}.median", own["median"], its["median"])
        check.equal(f"{where}.{name}, steps", [row["step"] for row in own["steps"]], [row["step"] for row in its["steps"]])
        for mine, theirs in zip(own["steps"], its["steps"]):
            check.equal(f"{where}.{name} at {mine['step']}", mine, theirs)


def check_predictions(check, run):
    """Totals, the baselines' predictions, and verdicts, verbs and changes that are simple to compute."""
    where, report = run.label, run.report
    wanted_baseline = baseline_predictions(run) if "baseline" in run.run["target"] else {}
    failures, evaluations, latencies, tokens, asked, ok, bad = {}, {}, [], [0, 0], 0, 0, 0
    for (place, repeat), line in run.lines.items():
        sample, details = run.samples.lines[place], line["details"]
        at = f"{where} {line['dataset_sample_id']}"
        check.equal(f"{at} verb", verb_of(action_of(sample)), line["verb"])
        if (changes := changed_lines(sample)) is not None:
            check.equal(f"{at} changes", changes, line["changes"])
        asked += details["error_category"] not in ("missing", "not_reached")
        tokens[0] += details["usage"]["prompt_tokens"]
        tokens[1] += details["usage"]["completion_tokens"]
        without = [one["status"] for one in line["verdicts"] if one["status"] not in ("success", "not_applicable")]
        bad += details["status"] == "failed" or len(without) > 0
        for status in without:
            evaluations[status] = evaluations.get(status, 0) + 1
        if details["status"] == "failed":
            failures[details["error_category"]] = failures.get(details["error_category"], 0) + 1
            continue
        ok += 1
        if details["latency_ms"] is not None:
            latencies.append(details["latency_ms"])
        if place in wanted_baseline:
            check.equal(f"{at} prediction", wanted_baseline[place], line["prediction"])
        for one in line["verdicts"]:
            if one["evaluator"].startswith("exact-match") and one["status"] == "success":
                if (same := exact_match(one["profile_name"], line["prediction"], sample["next_state"])) is not None:
                    check.equal(f"{at} {one['profile_name']}", {"pass": same, "score": float(same)}, one)
    total = run.samples.count * run.repeats
    check.equal(f"{where}.lines", total, len(run.lines))
    progress = {"samples": total, "predicted": ok, "evaluated": total, "failed": bad, "failed_predictions": total - ok, "without_verdict": bad - total + ok}
    check.equal(f"{where}.progress", progress, {name: run.run["progress"][name] for name in progress})
    check.equal(f"{where}.failures", {"predictions": failures, "evaluations": evaluations}, report["failures"])
    check.equal(f"{where}, kinds of failures", [set(failures), set(evaluations)], [set(one) for one in report["failures"].values()])
    check.equal(f"{where}.tokens", {"prompt": tokens[0], "completion": tokens[1]}, report["tokens"])
    latencies.sort()
    ranks = {name: latencies[math.ceil(share * len(latencies)) - 1] for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)) if latencies}
    check.equal(f"{where}.latency_ms", {name: float(value) for name, value in ranks.items()} or None, report["latency_ms"])
    # Times of the API are rounded down to milliseconds.
    started, ended = (datetime.fromisoformat(run.run[name]).timestamp() for name in ("started_at", "finished_at"))
    rate = report["predictions_per_second"]
    if "deployment" in run.run["target"]:
        # The time to the last prediction is not exported: it is at most that to the run's end, and at least its call's duration.
        fits = asked / (ended - started + 0.0011) <= rate <= asked * 1000 / max(latencies, default=1e-9)
        check.equal(f"{where}.predictions_per_second of {asked} in {ended - started} s: {rate}", True, fits)
    else:
        check.equal(f"{where}.predictions_per_second", None, rate)


def check_run(check, run, runs):
    check_predictions(check, run)
    same = [one for one in runs if one.samples is run.samples and one.run["mode"] == "teacher-forced"]
    baseline = next(one for one in same if one.run["target"] == {"baseline": "no-change"})
    for place, evaluator in enumerate(map(names_of, run.run["evaluators"])):
        where = f"{run.label} {evaluator[0]} {evaluator[1]}"
        check_outcomes(check, where, run, evaluator, run.report["evaluators"][place], baseline)
        if run.run["mode"] == "free-running":
            check_survival(check, f"{where} survival", run, evaluator, run.report["survival"][place])
    if run.run["mode"] != "free-running":
        return
    like = [one for one in same if one.run["target"] == run.run["target"] and one.run["params"] == run.run["params"]]
    forced = max(like, key=lambda one: one.run["created_at"], default=None)
    check.equal(f"{run.label}.teacher_forced", forced and forced.id, run.report["teacher_forced"] and run.report["teacher_forced"]["run_id"])
    for one in run.report["teacher_forced"]["evaluators"] if forced else []:
        own = next(other for other in forced.report["evaluators"] if names_of(other) == names_of(one))
        check.equal(f"{run.label}.teacher_forced", {key: own[key] for key in one if key in own}, one)
        check.equal(f"{run.label}.teacher_forced.step", own["strata"]["step"], one["step"])


def check_comparison(check, where, runs, answer):
    samples = runs[0].samples
    matches = []
    for run in runs:
        place = {text: index for index, text in enumerate(run.samples.equal)}
        matches.append(np.array([place.get(text, -1) for text in samples.equal]))
    in_all = int(np.sum([all(match[place] >= 0 for match in matches) for place in range(samples.count)]))
    for run, one in zip(runs, answer["runs"]):
        check.equal(f"{where} {run.label}", {"id": run.id, "left_out": run.samples.count - in_all}, one)
    dimensions = {name: places for name, places in samples.dimensions().items() if name in ("step", "changed", "changes")}
    wanted = []
    for found in answer["evaluators"]:
        tallies = [tally(run.outcomes(names_of(found))) for run in runs]
        matched = [
            {name: np.where(match >= 0, values[match], np.nan) for name, values in of.items()} for of, match in zip(tallies, matches)
        ]
        reference, candidates = compare(matched, samples.trajectory_number, dimensions)
        check.equal(f"{where} {' '.join(names_of(found))} reference", {"run_id": runs[0].id, **reference}, found["reference"])
        wanted.extend(candidates)
    decide(wanted)
    remaining = iter(wanted)
    for found in answer["evaluators"]:
        for run, candidate, mine in zip(runs[1:], found["candidates"], remaining):
            part = f"{where} {' '.join(names_of(found))} {run.label}"
            strata = mine.pop("strata")
            check.equal(part, {"run_id": run.id, **mine}, candidate)
            for name, rows in strata.items():
                check.keys(f"{part}.{name}", [row["key"] for row in rows], candidate["strata"][name])
                for row, its in zip(rows, candidate["strata"][name]):
                    check.equal(f"{part}.{name}={row['key']}", row, its)


def check_changed(check, where, runs, files):
    """The lists of samples that got worse or better, the most different first."""
    reference, candidate = runs
    evaluator = next(names_of(one) for one in reference.run["evaluators"] if one["evaluator"].startswith("token-f1"))
    place = {text: index for index, text in enumerate(candidate.samples.equal)}
    first, other = (tally(run.outcomes(evaluator))["score"] for run in runs)
    change = {
        reference.samples.ids[index]: other[place[text]] - first[index]
        for index, text in enumerate(reference.samples.equal)
        if text in place and not np.isnan(first[index]) and not np.isnan(other[place[text]])
    }
    for direction, sign in (("worse", -1), ("better", 1)):
        with open(files[direction], encoding="utf-8") as file:
            page = json.load(file)
        listed = {one["dataset_sample_id"]: one["difference"] for one in page["data"]}
        wanted = {name: float(value) for name, value in change.items() if sign * value > 5e-13}
        if page["next"] is None:
            check.equal(f"{where} {direction}, number", len(wanted), len(listed))
        sizes = [abs(one) for one in listed.values()]
        # Differences that are equal within 1e-12 are in the order of the samples.
        check.equal(f"{where} {direction}, order", True, all(a >= b - 2e-12 for a, b in zip(sizes, sizes[1:])))
        check.equal(f"{where} {direction}", {name: wanted.get(name, "none") for name in listed}, listed)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    check, revisions, runs = Check(), {}, {}
    for one in job["runs"]:
        samples = revisions.setdefault(one["samples"], None) or Samples(one["samples"])
        revisions[one["samples"]] = samples
        with open(one["report"], encoding="utf-8") as file:
            runs[one["label"]] = Run(one["label"], samples, read_lines(one["export"]), json.load(file))
    for run in runs.values():
        check_run(check, run, list(runs.values()))
    for one in job["comparisons"]:
        with open(one["answer"], encoding="utf-8") as file:
            check_comparison(check, " | ".join(one["runs"]), [runs[label] for label in one["runs"]], json.load(file))
        check_changed(check, " | ".join(one["runs"][:2]), [runs[label] for label in one["runs"][:2]], one["changed"])
    print(json.dumps({
        "compared": check.compared, "largest_difference": check.largest, "disagreements": len(check.problems),
        "first_disagreements": check.problems[:20],
    }))  # fmt: skip


main()
