"""Walks through ScienceWorld and prints what happened, a trajectory a line: collect.py SEED VARIATIONS TASK…

Of the variations for training, as many as are asked for, the gold path and a random walk; of those for tests also the
gold path without one of its actions but the last.
"""

import json
import random
import sys

from server import Act, ScienceWorld

seed, variations, *tasks = sys.argv[1:]
chance = random.Random(int(seed))  # noqa: S311
world = ScienceWorld()
longest = 8


def gold_path(at):
    world.reset(**at, gold=True)
    return world.simulator.get_gold_action_sequence()


def walk(at, choose):
    first = world.reset(**at).prompt
    about, steps = world.simulator.get_task_description(), []
    while (action := choose(len(steps))) is not None:
        seen = world.step(Act(message=action))
        steps.append({"action": action, "observation": seen.prompt, "reward": seen.reward, "done": seen.done})
        if seen.done:
            break
    return {**at, "about": about, "first": first, "steps": steps}


def along(path):
    return lambda index: path[index] if index < len(path) else None


def at_random(index):
    """A verb, and then one of its valid actions: most of them are of `connect`."""
    if index < longest:
        valid = sorted(world.simulator.get_valid_action_object_combinations())
        verb = chance.choice(sorted({action.split()[0] for action in valid}))
        return chance.choice([action for action in valid if action.split()[0] == verb])
    return None


for task in tasks:
    world.reset(task=task)
    splits = {"train": world.simulator.get_variations_train(), "test": world.simulator.get_variations_test()}
    for split, all_of_them in splits.items():
        for variation in chance.sample(all_of_them, int(variations)):
            at = {"task": task, "variation": variation}
            path = gold_path(at)
            policies = {"gold": along(path), "random": at_random}
            if split == "test":
                left_out = chance.randrange(len(path) - 1)
                policies["one-left-out"] = along(path[:left_out] + path[left_out + 1 :])
            for policy, choose in policies.items():
                print(json.dumps({"split": split, "policy": policy, **walk(at, choose)}))
