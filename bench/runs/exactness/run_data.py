"""What a run's export and its dataset say: its samples, its outcomes, and what can be computed from them without the server."""

import collections
import hashlib
import json
import re

import numpy as np

JS_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
MOST_VERBS, MOST_TAGS, MOST_STEPS = 50, 200, 1000


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def state_of(sample):
    if "interaction" in sample:
        return sample["interaction"]["state"]
    answers = [turn["content"] for turn in sample.get("messages", []) if turn["role"] == "assistant"]
    return answers[-1] if answers else ""


def action_of(sample):
    if "interaction" in sample:
        return sample["interaction"]["action"]
    asked = [turn["content"] for turn in sample.get("messages", []) if turn["role"] == "user"]
    return asked[-1] if asked else ""


def exact_match(profile, output, gold):
    """None for profiles that are not simple."""
    if profile == "system:default":
        return output.strip(JS_SPACE) == gold.strip(JS_SPACE)
    return output.strip() == gold.strip() if profile == "system:word2world-exact" else None


def verb_of(action):
    name = None
    if re.match(r"\s*\[", action):
        try:
            calls = json.loads(action)
        except ValueError:
            calls = []
        first = calls[0] if calls else None
        if isinstance(first, dict):
            function = first.get("function")
            names = [first.get("name"), function.get("name") if isinstance(function, dict) else None]
            name = next((one for one in names if isinstance(one, str)), None)
    if name is None:
        words = action.strip(JS_SPACE).split()
        name = words[0] if words else ""
    return name.lower()[:100]


def changed_lines(sample):
    """None where states are not plain lines, which `state-change` reads in other ways."""
    before, gold = state_of(sample), sample["next_state"]
    if any(mark in text for text in (before, gold) for mark in ("think>", "tool_response>")) or gold.lstrip()[:1] in ("{", "["):
        return None
    one, other = (
        collections.Counter(said for line in re.split(r"[\r\n]+", text) if (said := line.rstrip(JS_SPACE)) != "")
        for text in (before, gold)
    )
    return max((other - one).total(), (one - other).total())


class Samples:
    """A revision's samples in its own order, with the groups that they are in."""

    def __init__(self, path):
        self.lines = read_lines(path)
        self.count = len(self.lines)
        self.ids = [line["dataset_sample_id"] for line in self.lines]
        self.place = {one: place for place, one in enumerate(self.ids)}
        self.trajectory = np.array([line["trajectory_id"] for line in self.lines])
        self.step = [line["step"] for line in self.lines]
        self.equal = [json.dumps(line, sort_keys=True) for line in self.lines]
        self.traits = {}
        # In order of first occurrence: the signs and draws of resampling depend on it.
        self.trajectories = collections.defaultdict(list)
        for place, name in enumerate(self.trajectory):
            self.trajectories[str(name)].append(place)
        for places in self.trajectories.values():
            places.sort(key=lambda place: self.step[place])
        numbers = {name: number for number, name in enumerate(self.trajectories)}
        self.trajectory_number = np.array([numbers[str(name)] for name in self.trajectory])

    def dimensions(self):
        """The places of each key's samples, in the order of a report's keys."""
        traits = [self.traits.get(place) for place in range(self.count)]
        known = [None if one is None else one["changes"] for one in traits]
        verbs = [None if one is None else one["verb"] for one in traits]
        counts = collections.Counter(verb for verb in verbs if verb not in (None, "other"))
        frequent = [verb for verb, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))][:MOST_VERBS]
        tags = [[f"{name}={text}" for name, text in line.get("tags", {}).items()] for line in self.lines]
        tag_counts = collections.Counter(tag for some in tags for tag in some)
        frequent_tags = sorted(tag for tag, _ in sorted(tag_counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_TAGS])
        changed = ["unknown" if one is None else "changed" if one else "unchanged" for one in known]
        return {
            "step": group([[one] for one in self.step], sorted(set(self.step))[:MOST_STEPS]),
            "trajectory": {key: places for key, places in self.trajectories.items()},
            "changed": group([[one] for one in changed], ["unchanged", "changed", "unknown"]),
            "changes": group([[change_key(one)] for one in known], ["0", "1-2", "3-6", "7+", "unknown"]),
            "verb": group([[] if verb is None else [verb if verb in frequent else "other"] for verb in verbs], [*frequent, "other"]),
            "tag": group(tags, frequent_tags),
        }


def group(keys_of_samples, keys):
    places = {key: [] for key in keys}
    for place, some in enumerate(keys_of_samples):
        for key in some:
            if key in places:
                places[key].append(place)
    return places


def change_key(changes):
    if changes is None:
        return "unknown"
    return "0" if changes == 0 else "1-2" if changes < 3 else "3-6" if changes < 7 else "7+"


class Run:
    """A finished run: its lines by sample and repeat, and its values by evaluator."""

    def __init__(self, label, samples, lines, report):
        self.label, self.samples, self.report = label, samples, report
        self.run = report["run"]
        self.id, self.repeats = self.run["id"], self.run["repeats"]
        self.lines = {}
        for line in lines:
            place = samples.place[line["dataset_sample_id"]]
            self.lines[place, line["repeat"]] = line
            if line["changes"] is not None or line["verb"] is not None:
                samples.traits[place] = {"changes": line["changes"], "verb": line["verb"]}

    def verdict(self, evaluator, place, repeat):
        line = self.lines.get((place, repeat))
        for one in [] if line is None else line["verdicts"]:
            if (one["evaluator"], one["profile_name"]) == evaluator:
                return one
        return None

    def outcome(self, evaluator, place, repeat):
        one = self.verdict(evaluator, place, repeat)
        if one is None:
            return "prediction_failed"
        if one["status"] != "success":
            return "not_applicable" if one["status"] == "not_applicable" else "evaluator_failed"
        return "pass" if one["pass"] else "fail"

    def outcomes(self, evaluator):
        """Of each sample and repeat, as `tally` reads them."""
        return [[self.told(evaluator, place, repeat) for repeat in range(self.repeats)] for place in range(self.samples.count)]

    def told(self, evaluator, place, repeat):
        one = self.verdict(evaluator, place, repeat)
        if one is None:
            return "prediction_failed"
        return [one["score"], int(one["pass"])] if one["status"] == "success" else one["status"]

    def predicted(self, place, repeat):
        return self.lines[place, repeat]["prediction"]


def baseline_predictions(run):
    """What a baseline has to predict, by place, for the samples that it reached."""
    samples, free = run.samples, run.run["mode"] == "free-running"
    kind = run.run["target"]["baseline"]
    counts = collections.defaultdict(collections.Counter)
    own = collections.defaultdict(collections.Counter)
    for place, line in enumerate(samples.lines):
        counts[action_of(line)][line["next_state"]] += 1
        own[samples.trajectory[place], action_of(line)][line["next_state"]] += 1
    found = {}
    for places in samples.trajectories.values():
        told = None
        for place in places:
            line = samples.lines[place]
            state = told if free and told is not None else state_of(line)
            if kind == "most-frequent":
                left = counts[action_of(line)] - own[samples.trajectory[place], action_of(line)]
                ranked = sorted(left.items(), key=lambda one: (-one[1], hashlib.sha256(one[0].encode()).hexdigest()))
                state = ranked[0][0] if ranked else state
            found[place] = told = state
    return found
