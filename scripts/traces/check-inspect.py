"""Whether the public inspect-ai reads a log as it should: check-inspect.py LOG EXPECTATIONS

EXPECTATIONS is a JSON file: {"status", "model", "metrics": {SCORER: MEAN}, "samples": {"ID EPOCH": {"target",
"completion", "error", "scores": {SCORER: VALUE}}}}. What it does not name is not compared.
"""

import json
import sys

from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries


def scores_of(sample):
    return {name: score.value for name, score in (sample.scores or {}).items()}


def shown(sample):
    return {
        "target": sample.target,
        "completion": sample.output.completion,
        "error": sample.error.message if sample.error else None,
        "scores": scores_of(sample),
    }


def differences(expected, found, path=""):
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return [] if expected == found else [f"{path}: expected {expected!r}, found {found!r}"]
    missing = [f"{path}/{name}: missing" for name in expected if name not in found]
    both = [name for name in expected if name in found]
    return missing + [line for name in both for line in differences(expected[name], found[name], f"{path}/{name}")]


def check(log, expected):
    header = read_eval_log(log, header_only=True)
    whole = read_eval_log(log)
    summaries = read_eval_log_sample_summaries(log)
    samples = {f"{sample.id} {sample.epoch}": sample for sample in whole.samples or []}
    found = {
        "status": header.status,
        "model": header.eval.model,
        "metrics": {score.name: score.metrics["mean"].value for score in header.results.scores if score.metrics},
        "samples": {key: shown(sample) for key, sample in samples.items()},
    }
    wrong = differences(expected, found)
    if "samples" in expected and set(samples) != set(expected["samples"]):
        wrong.append(f"samples: expected {sorted(expected['samples'])}, found {sorted(samples)}")
    in_summaries = {f"{one.id} {one.epoch}": scores_of(one) for one in summaries}
    wrong += differences({key: scores_of(sample) for key, sample in samples.items()}, in_summaries, "summaries")
    for sample in samples.values():
        alone = read_eval_log_sample(log, sample.id, sample.epoch)
        wrong += differences(shown(sample), shown(alone), f"{sample.id} {sample.epoch} alone")
    return wrong


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        wrong = check(sys.argv[1], json.load(file))
    sys.exit("\n".join(wrong) or 0)
