"""Makes `reference-reports.fixture.jsonl`: seeded runs with the figures that reports and comparisons have to show for them.

    python3 -m venv /tmp/statistics && /tmp/statistics/bin/pip install numpy==2.4.6 scipy==1.17.1
    /tmp/statistics/bin/python reference-reports.fixture.py > reference-reports.fixture.jsonl

With a number, so many random data sets: `npm run bench -- --only exactness` compares 200. The figures are computed from the verdicts by
`bench/runs/exactness/figures.py`.
"""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "bench" / "runs" / "exactness"))
from figures import compare, decide, figures, tally  # noqa: E402

SEED = 20261123
VERBS = ["look", "open", "take", "go", "other"] + [f"verb{i}" for i in range(50)]


def draw_samples(draw, lengths, verbs=VERBS[:5]):
    rows = []
    for number, length in enumerate(lengths):
        for step in range(int(length)):
            changes = None if draw.random() < 0.05 else int(draw.choice([0, 0, 1, 2, 3, 6, 7, 12]))
            tags = {"split": str(draw.choice(["train", "test"]))}
            if draw.random() < 0.2:
                tags["rare"] = "yes"
            rows.append({"trajectory": f"t{number}", "step": step, "changes": changes, "verb": str(draw.choice(verbs)), "tags": tags})
    return rows


def draw_run(draw, samples, repeats, shift, kind="scores", failing=0.07, ungraded=0.1, not_applicable=0.04):
    """For each sample and repeat: [score, pass], "failed" for a prediction, or a status of the evaluator. And the unchanged state's."""
    centres = {}
    outcomes, unchanged = [], []
    for sample in samples:
        centre = centres.setdefault(sample["trajectory"], draw.beta(2, 1.5)) + shift
        own = []
        for _ in range(repeats):
            luck, known = draw.random(), draw.random() >= ungraded
            score = round(float(np.clip(centre + 0.3 * draw.standard_normal(), 0, 1)), 3)
            passed = int(kind == "all pass" or score >= 0.5)
            # Scores independent of the verdict, scores equal to the verdict, and verdicts without a score.
            graded = {"scores": score, "alike": 0.5, "ungraded": None}.get(kind, float(passed))
            verdict = [graded if known else None, passed]
            own.append("failed" if luck < failing / 2 else "error" if luck < failing else "not_applicable" if luck < failing + not_applicable else verdict)
        outcomes.append(own)
        unchanged.append(None if draw.random() < 0.1 else [round(float(draw.random()), 3), int(draw.integers(0, 2))])
    return {"repeats": repeats, "outcomes": outcomes, "unchanged": unchanged}


def change_key(changes):
    if changes is None:
        return "unknown"
    return "0" if changes == 0 else "1-2" if changes < 3 else "3-6" if changes < 7 else "7+"


def group(samples, keys_of):
    places = {}
    for place, sample in enumerate(samples):
        for key in keys_of(sample):
            places.setdefault(key, []).append(place)
    return places


def dimensions(samples):
    counts = {verb: len(places) for verb, places in group(samples, lambda s: [s["verb"]]).items() if verb != "other"}
    frequent = sorted(counts, key=lambda verb: (-counts[verb], verb))[:50]
    return {
        "step": group(samples, lambda s: [s["step"]]),
        "trajectory": group(samples, lambda s: [s["trajectory"]]),
        "changed": group(samples, lambda s: ["unknown" if s["changes"] is None else "changed" if s["changes"] else "unchanged"]),
        "changes": group(samples, lambda s: [change_key(s["changes"])]),
        "verb": group(samples, lambda s: [s["verb"] if s["verb"] in frequent else "other"]),
        "tag": group(samples, lambda s: [f"{name}={text}" for name, text in s["tags"].items()]),
    }


def trajectories_of(samples):
    """Numbers, in the order in which trajectories come first, by which their signs go."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sample["trajectory"] for sample in samples))}
    return np.array([numbers[sample["trajectory"]] for sample in samples])


def report(samples, run):
    of, trajectory = tally(run["outcomes"]), trajectories_of(samples)
    # Stored with the first repeat's verdict.
    unchanged = {
        place: one for place, one in enumerate(run["unchanged"]) if one is not None and isinstance(run["outcomes"][place][0], list)
    }
    strata = {
        name: [
            {"key": key, **figures(of, trajectory, places, unchanged)}
            for key, places in places_of.items()
            if of["verdicts"][places].sum() + of["failed"][places].sum() > 0
        ]
        for name, places_of in dimensions(samples).items()
    }
    return {"overall": figures(of, trajectory, range(len(samples)), unchanged), "strata": strata}


def compared(samples, runs, matches):
    """`matches` has for each run the place of each sample in its own revision, or None."""
    tallies = []
    for run, match in zip(runs, matches):
        there = np.array([place is not None for place in match])
        places = np.array([place or 0 for place in match])
        tallies.append({name: np.where(there, values[places], np.nan) for name, values in tally(run["outcomes"]).items()})
    chosen = {name: places for name, places in dimensions(samples).items() if name in ("step", "changed", "changes")}
    reference, candidates = compare(tallies, trajectories_of(samples), chosen)
    decide(candidates)
    for candidate, run, match in zip(candidates, runs[1:], matches[1:]):
        verdicts = tally(run["outcomes"])["verdicts"]
        unmatched = set(range(len(verdicts))) - set(match)
        candidate["only_in_candidate"] += int(sum(verdicts[place] > 0 for place in unmatched))
    return {"reference": reference, "candidates": candidates}


def case(name, base, runs, matches):
    """`runs` are pairs of a revision's samples and a run."""
    revisions = [base] + [own for own, _ in runs if own is not base][:1]
    return {
        "name": name,
        "revisions": revisions,
        "runs": [{"revision": int(own is not base), "run": run, "report": report(own, run)} for own, run in runs],
        "comparison": compared(base, [run for _, run in runs], matches),
    }


def fixed_cases():
    draw = np.random.default_rng(SEED)
    samples = draw_samples(draw, draw.integers(1, 8, 24), VERBS)
    reference, second = draw_run(draw, samples, 1, 0.1, ungraded=0), draw_run(draw, samples, 3, 0.05, ungraded=0)
    same = list(range(len(samples)))
    # Another revision: in another order, without some samples and with a new one.
    order = [int(place) for place in draw.permutation(len(samples))[10:]]
    moved = [samples[place] for place in order] + [{"trajectory": "new", "step": 0, "changes": 0, "verb": "go", "tags": {}}]
    third = draw_run(draw, moved, 2, -0.1, ungraded=0)
    match = [order.index(place) if place in order else None for place in same]
    yield case("three runs of two revisions", samples, [(samples, reference), (samples, second), (moved, third)], [same, same, match])
    few = draw_samples(draw, [4, 1, 40, 3, 2, 2, 1, 5])
    for kind in ("verdicts", "ungraded"):
        runs = [(few, draw_run(draw, few, 2, shift, kind)) for shift in (0, 0.3)]
        yield case(f"one long trajectory, {kind}", few, runs, [list(range(len(few)))] * 2)


def random_cases(count):
    draw = np.random.default_rng(SEED + 1)
    for number in range(count):
        trajectories = int(draw.choice([1, 2, 3, 5, 6, 7, 8, 10, 12, 13, 17, 20, 21, 33, 60, 70]))
        lengths = draw.integers(1, 7, trajectories)
        shape = draw.choice(["like", "one is long", "log-normal"])
        if shape == "one is long":
            lengths[0] = 1 + lengths.sum()
        if shape == "log-normal":
            lengths = np.maximum(1, np.minimum(60, np.round(3 * np.exp(draw.standard_normal(trajectories)))))
        samples = draw_samples(draw, lengths, VERBS)
        kind = str(draw.choice(["scores", "verdicts", "ungraded", "all pass", "alike"], p=[0.4, 0.3, 0.1, 0.1, 0.1]))
        rates = {name: float(draw.choice([0, 0.1, 0.4])) for name in ("failing", "ungraded", "not_applicable")}
        runs = [
            (samples, draw_run(draw, samples, int(draw.integers(1, 4)), float(draw.choice([-0.3, 0, 0.1, 0.3])), kind, **rates))
            for _ in range(int(draw.integers(2, 4)))
        ]
        yield case(f"{number}: {trajectories} trajectories ({shape}), {kind}", samples, runs, [list(range(len(samples)))] * len(runs))


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 12) if isinstance(value, float) else value


for line in random_cases(int(sys.argv[1])) if len(sys.argv) > 1 else fixed_cases():
    print(json.dumps(rounded(line), separators=(",", ":"), allow_nan=False))
