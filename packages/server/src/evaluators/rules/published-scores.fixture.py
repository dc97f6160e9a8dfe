"""Makes `published-scores.fixture.jsonl`: predictions with the verdicts that the public scripts of three papers give them.

    python3 published-scores.fixture.py MDLM WORD2WORLD LLM_SIM > published-scores.fixture.jsonl

The arguments are directories with checkouts of

    patronus-ai/mdlm_world_modeling   58e6fe0c963ee4256f6bb02ee99f6b47dc3feb2e   sdar/evaluate.py
    X1AOX1A/Word2World                aae3c9bdbf3065b7a698a72da78ddbfc101576ac   scripts/single_step_accuracy/run.py
    cognitiveailab/GPT-simulator      0d5a741146c9d156f92930d5254c0d5e16facc0d   scripts/, experiments/quest_gpt.py

None of their code is in this file. They are imported unchanged and called; libraries that they import for models, tables and
figures are replaced by stand-ins. All texts, states and predictions come from this file: edge cases, and mutations of a few gold
answers by a seeded generator. It was run with Python 3.11.7.

Lines, told apart by `script`:

- `mdlm`: `outputs` are `[prediction, exact, semantic]`, null where the script leaves the pair out.
- `mdlm-file`: `rows` of a file of predictions, and what the script counts in it.
- `word2world`: conversations and a prediction for each answer of the environment; `steps` are `[correct, total]` by number of steps.
- `llm-sim`: `outputs` are `[prediction, object errors, score errors, correct]` for the states `current` and `gold`, which are JSON; `is_diff`
  says whether the model was asked for what changes. -1 errors are a wrong format.
"""

import importlib.util
import io
import json
import os
import random
import sys
import tempfile
from contextlib import redirect_stdout
from types import SimpleNamespace
from unittest.mock import MagicMock

SEED = 20261122
# How many pairs are drawn: of each kind, and mutations of each state.
MDLM_DRAWN = 400
LLM_SIM_DRAWN = 70


def load(path, name, stand_ins=()):
    for library in stand_ins:
        sys.modules[library] = MagicMock()
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    with redirect_stdout(io.StringIO()):
        spec.loader.exec_module(module)
    return module


def emit(line):
    # In ASCII, so that every kind of space is visible.
    print(json.dumps(line, separators=(",", ":")))


# mdlm_world_modeling

SPACES = ["\t", "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u2003", "\u2028", "\u3000", "\ufeff", "\u200b"]

MDLM_GOLDS = [
    "The door is open.",
    "<tool_response>\nThe door is open.\n</tool_response>",
    '<tool_response>\n{"note_id": 1556, "title": "Groceries", "tags": ["home", "weekly"], "price": 12.40, "done": true}\n</tool_response>',
    '{"a": 1, "b": [1.0, 2, {"c": null}], "é": "☕"}',
    "[]", "{}", "null", "true", "1", "1.0", "0", "-0.0", '"text"', "NaN", "[NaN]", "Infinity", "12345678901234567890", "1e400", "", " ",
    "<tool_response></tool_response>", "<think>only thought</think>", "Say <think> aloud", '{"a":1,"a":2}', '{"__proto__":1}', '"\\ud800"',
]

MDLM_OUTPUTS = [
    "The door is open.", "The door is open", "the door is open.", "The door is open.\n", "The  door is open.",
    "<think>Hm.</think>The door is open.", "<think>Hm.</think>\n\n<think>Well.</think> The door is open.", "The <think>really</think>door is open.",
    "Hm.</think>The door is open.", "<think>Hm. The door is open.", "<think>The door is open.", "</think>The door is open.", "The door is open.</think >",
    "<tool_response>The door is open.</tool_response>", "<tool_response>The door is open.", "The door is open.</tool_response>",
    "Here: <tool_response>The door is open.</tool_response> Done.", "</tool_response><tool_response>The door is open.</tool_response>",
    "<tool_response><tool_response>The door is open.</tool_response></tool_response>", "<tool_response>The door is open.</tool_response><tool_response>No.</tool_response>",
    "<think><tool_response>No.</tool_response></think><tool_response>The door is open.</tool_response>",
    "<tool_response>The <think>door</think> is open.</tool_response>", "<tool_response \n>The door is open.", "< tool_response>The door is open.", "<TOOL_RESPONSE>The door is open.",
    "", " ", "<think></think>", "<tool_response>", "ERROR: no answer",
    '{"b": [1, 2, {"c": null}], "a": 1.0, "\\u00e9": "\\u2615"}', '{"é":"☕","b":[1.0,2,{"c":null}],"a":1}', '{"a":true,"b":[true,2,{"c":null}],"é":"☕"}', '{"a":1,"b":[2,1.0,{"c":null}],"é":"☕"}',
    '{"done":true,"note_id":1556,"price":12.4,"tags":["home","weekly"],"title":"Groceries"}', '{"done":1,"note_id":1556.0,"price":12.4,"tags":["home","weekly"],"title":"Groceries"}',
    '{"done":true,"note_id":1556,"price":12.4,"tags":["weekly","home"],"title":"Groceries"}', '{"done":true,"note_id":1556,"price":"12.4","tags":["home","weekly"],"title":"Groceries",}',
    "[]", "[ ]", "{}", "{ }", "null", "None", "true", "True", "1", "1.0", "1.00", "1e0", "01", "+1", "1.", "0", "-0", "0.0", "-0.0", "false", '"text"', "text", "'text'",
    "NaN", "nan", "-NaN", "[NaN]", "[ NaN ]", "[NaN,]", '["NaN"]', "Infinity", "-Infinity", "1e400", "1e999", "[1NaN]", "[NaN5]", "+Infinity", "--Infinity", '{"NaN":NaN}', "{NaN:1}",
    "12345678901234567890", "12345678901234567891", "12345678901234567890.0", "1.2345678901234567890e19", '{"a":2}', '{"__proto__":1}', '{"__proto__":1.0}', '"\\ud800"', '"\\uD800"', '"\\ud800\\udc00"', '"\\q"', '"a\tb"',
    '{"a":1}{"a":1}', '{"a":1} x', "\ufeff{}", "{}\ufeff",
]

MDLM_EDGES = [(f"{space}a{space}", "a") for space in SPACES] + [(f"<think{space}>a", "a") for space in SPACES] + [
    (f"<tool_response>{space}{{}}{space}</tool_response>", "{}") for space in SPACES
] + [
    ("[1, 1.0, true]", "[true, 1, 1.0]"), ("[0, 0.0, false]", "[false, -0.0, 0]"), ('{"a":{"b":[NaN,1]}}', '{"a":{"b":[NaN,1.0]}}'),
    ("9007199254740993", "9007199254740992.0"), ("9007199254740992", "9007199254740992.0"), ("0.1", "0.10000000000000001"), ("1e-400", "0.0"), ("-1e-400", "0.0"),
    ("1E5", "100000.0"), ("100000", "1E5"), ('{"a":1,"b":2}', '{"a":1}'), ('{"a":1}', '{"b":1}'), ('{"1":1}', "[1]"), ("[[]]", "[{}]"), ("[[]]", "[[]]"), ('"<think>"', '""'), ('"a"', "a"), ('{"a":"</tool_response>"}', '{"a":""}'),
    ("\x1f{}\x1f", "{}"), ("{\u00a0}", "{}"), ("[1,\n2]", "[1,2]"), ('"\x7f"', '"\\u007f"'), ('"\\/"', '"/"'), ("tru", "true"), ("[1 2]", "[1,2]"), ("-", "-"), ("-1", "-1.0"), ("- 1", "-1"), ("1_000", "1000"), ("\u0661", "1"), ("[\u0661]", "[1]"),
]

PIECES = ["<think>", "</think>", "<tool_response>", "</tool_response>", "</think >", " ", "\n", "\x1c", "{", "}", "[", "]", ",", ":", '"a"', '"b"', "1", "1.0", "-0", "true", "null", "NaN", "a", "b"]


def mdlm_random(draw, count):
    for _ in range(count):
        gold = "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 6)))
        pieces = [gold]
        for _ in range(draw.randint(1, 4)):
            pieces.insert(draw.randrange(len(pieces) + 1), draw.choice(PIECES))
        yield "".join(pieces), gold


def mdlm_verdict(script, prediction, reference):
    pair = script.prepare_pair(prediction, reference, ref_extract_output=False)
    if not pair[1].strip():
        return [prediction, None, None]
    metrics = script.compute_metrics([pair])
    return [prediction, metrics["exact_match"] == 1, metrics["semantic_match"] == 1]


def mdlm_rows(draw):
    for index in range(120):
        # The script cannot write half a surrogate pair into its file of scores.
        reference = draw.choice([gold for gold in MDLM_GOLDS if "ud800" not in gold])
        prediction = draw.choice([reference, draw.choice(MDLM_OUTPUTS), f"<think>So.</think>{reference}", f"ERROR: {reference}"])
        names = draw.choice([("prediction_raw", "reference"), ("predicted", "expected"), ("generated", "ground_truth")])
        yield {"index": index, "config": "kitchen", names[0]: prediction, names[1]: reference}


def mdlm_file(script, rows):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.jsonl")
        with open(path, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        with redirect_stdout(io.StringIO()):
            return script.score_file("rows", path, directory, drop_errors=True, drop_empty_ref=True, ref_extract_output=False, dedupe_by_index=True)


def emit_mdlm(directory, draw):
    script = load(os.path.join(directory, "sdar/evaluate.py"), "mdlm")
    pairs = {}
    crossed = [(output, gold) for gold in MDLM_GOLDS for output in MDLM_OUTPUTS]
    for output, gold in crossed + MDLM_EDGES + list(mdlm_random(draw, MDLM_DRAWN)):
        verdict = mdlm_verdict(script, output, gold)
        # Most of the crossed pairs have nothing in common: a few of them are enough.
        if verdict[1] or verdict[2] or (output, gold) not in crossed or draw.random() < 0.15:
            pairs.setdefault(gold, []).append(verdict)
    for gold, outputs in pairs.items():
        emit({"script": "mdlm", "reference": gold, "outputs": outputs})
    rows = list(mdlm_rows(draw))
    metrics = mdlm_file(script, rows)
    emit({"script": "mdlm-file", "rows": rows, **{name: metrics[name] for name in ("num_samples", "num_dropped_errors", "exact_match", "semantic_match")}})


# Word2World

ROOMS = ["You are in the kitchen.", "You are in the hall. The door is closed.", "Nothing happens.", "You take the key.\nInventory: key", "  The lamp is on."]


def emit_word2world(directory, draw):
    script = load(os.path.join(directory, "scripts/single_step_accuracy/run.py"), "word2world", ["torch", "vllm", "transformers", "matplotlib", "matplotlib.pyplot"])
    conversations = []
    predictions = []
    for number in range(30):
        messages = [{"role": "system", "content": "You are a house."}]
        for step in range(draw.randint(1, 8)):
            answer = draw.choice(ROOMS) + draw.choice(["", "\n", draw.choice(SPACES)])
            messages += [{"role": "user", "content": f"action {step}"}, {"role": "assistant", "content": answer}]
            said = draw.choice([answer, answer.strip(), draw.choice(SPACES) + answer + draw.choice(SPACES), draw.choice(ROOMS), answer.upper()])
            predictions.append(said)
        conversations.append({"id": f"house-{number}", "messages": messages})
    script.BasicGenerator = lambda *_: SimpleNamespace(generate_batch=lambda _: predictions, unload_model=lambda: None)
    with tempfile.TemporaryDirectory() as directory:
        data, written = os.path.join(directory, "data.json"), os.path.join(directory, "out.json")
        with open(data, "w") as file:
            json.dump(conversations, file)
        with redirect_stdout(io.StringIO()):
            average = script.main(data, "", os.path.join(directory, "figure.png"), written)
        with open(written) as file:
            outputs = json.load(file)
    steps = {}
    for output in outputs:
        counts = steps.setdefault(output["steps"], [0, 0])
        counts[0] += output["correct"]
        counts[1] += 1
    emit({"script": "word2world", "conversations": conversations, "predictions": predictions, "correct": [one["correct"] for one in outputs], "steps": steps, "average": average})


# LLM-Sim


def thing(uuid, name, contains=(), **properties):
    return {"name": f"{name} (ID: {uuid})", "uuid": uuid, "type": name.title(), "properties": properties, "contains": list(contains)}


def kitchen(is_open=False, is_on=False, heat=20, inside=(), wires=("anode", None)):
    return [
        thing(1, "kitchen", ["agent (ID: 0)", "stove (ID: 2)", "pot (ID: 3)"], isContainer=True),
        thing(2, "stove", inside, isOpen=is_open, isOn=is_on, temperature=heat, connects={"terminal1": list(wires), "terminal2": [None, None]}),
        thing(3, "pot", ["water (ID: 4)", "salt (ID: 5)"], shape=[1, 2.5, "round"], label=None),
    ]


CURRENT = kitchen()
CHANGED = kitchen(is_open=True, heat=21, inside=["cup (ID: 6)"], wires=("cathode", 1))
SCORE = {"score": 1, "gameOver": False, "gameWon": False}
WON = {"score": 2, "gameOver": True, "gameWon": True}

# What a model may write in place of a value.
VALUES = [None, True, False, 0, 1, 1.0, 20, 21, 21.0, "21", "", "abc", "score", "uuid", [], {}, [1], ["1"], [None], [None, None], ["b", 1], [2, 1], [True, 0.0], [[1], [0]], [{}], [{}, {}], {"a": 1}, "properties isOpen", float("nan"), [float("nan")], 10**20]
KEYS = ["uuid", "name", "type", "properties", "contains", "isOpen", "isOn", "temperature", "connects", "terminal1", "shape", "label", "score", "gameOver", "gameWon", "game_state", "modified", "removed", "extra"]


def places(value, found):
    """Every dictionary and list in a value, with the key of each thing in it."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        found.append((value, key))
        if isinstance(inner, (dict, list)):
            places(inner, found)
    return found


def mutate(value, draw):
    for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
        # A copy each time, because the value that is written into it is used again.
        value = json.loads(json.dumps(value))
        found = places(value, []) if isinstance(value, (dict, list)) else []
        if not found:
            return value
        holder, key = draw.choice(found)
        kind = draw.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[draw.choice(KEYS)] = draw.choice(VALUES)
        elif kind == 2 and isinstance(holder, list):
            draw.shuffle(holder)
        elif kind == 3 and isinstance(holder, list):
            holder.append(draw.choice(VALUES + [thing(9, "ghost"), thing(2, "stove")]))
        elif kind == 4 and isinstance(holder[key], (int, float)):
            holder[key] = draw.choice([float(holder[key]), bool(holder[key]), holder[key] + 1])
        else:
            holder[key] = draw.choice(VALUES)
    return value


def llm_sim_texts(right, draw, count):
    yield from ["", "{}", "[]", "null", '"text"', "The stove is on.", "7", '{"game_state":[]}', '{"game_state":{}}', '{"game_state":"uuid"}', '{"game_state":"score"}', '{"game_state":["score"]}', '{"game_state":["uuid"]}', '{"game_state":[["uuid"]]}', '{"game_state":[1]}', '{"game_state":null}']
    text = json.dumps(right)
    yield from [text, f"```json\n{text}\n```", f"<think>So.</think>{text}", f" \n{text}\n", f"\x1f{text}", json.dumps({**right, **SCORE}), json.dumps({**right, **WON})]
    if "game_state" in right:
        # A score beside the objects, where the analysis looks for it too.
        objects = [one for one in right["game_state"] if "uuid" in one]
        yield from [json.dumps({"game_state": objects, **score}) for score in (SCORE, WON, {"score": 2}, {**WON, "score": 2.0, "gameWon": 1})]
    yield from ['{"modified":[],"removed":[]}', '{"modified":[],"removed":[],"score":{}}', '{"modified":[]}', '{"removed":[]}', '{"modified":{},"removed":{},"score":[]}', '{"modified":[],"removed":[3],"score":""}', '{"modified":[],"removed":[3.0],"score":{"score":2}}', '{"modified":[],"removed":"3","score":0}', '{"modified":[],"removed":["3"],"score":null}', '{"modified":[],"removed":{"3":1},"score":"score"}', '{"modified":[{"uuid":2}],"removed":[],"score":["score"]}', '{"modified":[{"uuid":[2]}],"removed":[],"score":{}}', '{"modified":["uuid"],"removed":[],"score":{}}']
    for _ in range(count):
        yield json.dumps(mutate(right, draw))


def read_response(text, current, is_diff, has_score, recover):
    try:
        prediction = json.loads(text)
        return recover(current, prediction, has_score=has_score) if is_diff else prediction
    except Exception:
        return text


def count_correct(analysis, pairs):
    """What the analysis of the paper counts as correct; each pair is a game of its own."""
    results = {str(number): {"total_states": 1, "total_errors": 0, "0": {"action": "open stove", "state_change": True, "objprop_errors": errors, "score_errors": score_errors}} for number, (_, _, errors, score_errors) in enumerate(pairs)}
    with tempfile.TemporaryDirectory() as directory:
        with open(f"{directory}/results_x_0.json", "w") as file:
            json.dump(results, file)
        with open(f"{directory}/x_0.jsonl", "w") as file:
            for number, (gold, predicted, _, _) in enumerate(pairs):
                file.write(json.dumps({"game": str(number), "state_id": 0, "gold_state": gold, "predicted_state": predicted}) + "\n")
        tables = []
        analysis.pd = SimpleNamespace(DataFrame=lambda table: tables.append(table) or MagicMock())
        analysis.per_state_statistics(SimpleNamespace(prefix="x", suffix="", n_shards=1, results_folder=directory, output_folder=directory, exp_type="full" if "score" in pairs[0][0]["game_state"][-1] else "action"))
    return [count == 1 for count in tables[-1]["correct_changed"]]


def emit_llm_sim(directory, draw):
    sys.path.insert(0, directory)
    quest = load(os.path.join(directory, "experiments/quest_gpt.py"), "quest_gpt", ["tiktoken", "bytes32", "bytes32.utils", "requests", "requests.exceptions"])
    analysis = load(os.path.join(directory, "scripts/results_analysis.py"), "results_analysis", ["pandas"])
    for has_score in (False, True):
        for is_diff in (False, True):
            for changed, won in ((CHANGED, WON), (CURRENT, SCORE)):
                current = {"game_state": CURRENT + ([SCORE] if has_score else [])}
                gold = {"game_state": changed + ([won] if has_score else [])}
                right = {"modified": [one for one in changed if one not in CURRENT], "removed": [], **({"score": won} if has_score else {})} if is_diff else gold
                texts = list(dict.fromkeys(llm_sim_texts(right, draw, LLM_SIM_DRAWN)))
                pairs = []
                for text in texts:
                    predicted = read_response(text, current, is_diff, has_score, quest.recover_game_state_from_partial)
                    errors, score_errors, _ = quest.evaluate(predicted, gold, "open stove", evaluate_score=True)
                    pairs.append((gold, predicted, errors, score_errors))
                outputs = [[text, errors, score_errors, correct] for text, (_, _, errors, score_errors), correct in zip(texts, pairs, count_correct(analysis, pairs))]
                emit({"script": "llm-sim", "is_diff": is_diff, "current": json.dumps(current), "gold": json.dumps(gold), "outputs": outputs})


def main():
    mdlm, word2world, llm_sim = sys.argv[1:]
    emit_mdlm(mdlm, random.Random(SEED))
    emit_word2world(word2world, random.Random(SEED))
    emit_llm_sim(llm_sim, random.Random(SEED))


main()
