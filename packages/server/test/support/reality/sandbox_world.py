"""What the real environments of the tests do: the sandbox's rules, but one verb is refused now and then."""

import json
import os
import random
import urllib.request

SANDBOX = os.environ["SANDBOX_URL"]
VERB = os.environ.get("REFUSED_VERB", "")
PROBABILITY = float(os.environ.get("REFUSAL_PROBABILITY", "0"))
chance = random.Random(int(os.environ.get("SEED", "0")))


class World:
    """An episode, from an initial state with its context to a goal. What is refused has not happened."""

    def __init__(self, task):
        self.goal = task.get("goal")
        self.state = task["initial_state"]
        context = task.get("context") or {}
        sections = {"ENVIRONMENT STATE": "environment_state", "TASK CONTEXT": "task_context"}
        system = "\n\n".join(f"## {name}\n{context[field]}" for name, field in sections.items() if field in context)
        self.messages = [{"role": "system", "content": system}]

    def step(self, action):
        """The observation, the reward, and whether the episode is over."""
        if action.split(" ")[0] == VERB and chance.random() < PROBABILITY:
            return "Nothing happens.", 0.0, False
        turn = f"Action: {action}" if len(self.messages) > 1 else f"State: {self.state}\n\nAction: {action}"
        self.messages.append({"role": "user", "content": turn})
        body = json.dumps({"model": "presage-sandbox", "messages": self.messages}).encode()
        request = urllib.request.Request(f"{SANDBOX}/chat/completions", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as response:
            observation = json.load(response)["choices"][0]["message"]["content"]
        self.messages.append({"role": "assistant", "content": observation})
        done = bool(self.goal) and self.goal in observation
        return observation, 1.0 if done else 0.0, done
