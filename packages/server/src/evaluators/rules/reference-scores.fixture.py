"""Makes `reference-scores.fixture.jsonl`: 785 pairs of texts with the scores that published Python packages give them.

    python3 -m venv /tmp/scores && /tmp/scores/bin/pip install rouge==1.0.1 sacrebleu==2.6.0
    /tmp/scores/bin/python reference-scores.fixture.py > reference-scores.fixture.jsonl

Each line is a gold answer with its outputs: `[output, precision, recall, f, bleu]`. The first three figures are
`rouge.Rouge().get_scores(output or " ", gold or " ")[0]["rouge-l"]`, null where that call raises `ValueError` because a text has
nothing but full stops.
`bleu` is `sacrebleu.sentence_bleu(output, [gold]).score / 100`.

Most outputs are mutations of the gold answer, one to six in a row, from a seeded generator. The rest are edge cases.
"""

import json
import random

import rouge
import sacrebleu

PAIRS = 785
SEED = 20261122

GOLDS = [
    "You open the wooden door. Behind it is a narrow corridor with a lamp at its end.",
    "The kettle is on the stove. The stove is off. The water in the kettle is cold.",
    "You take the brass key from the drawer. The drawer is now empty.",
    "Nothing happens.",
    "You are in the greenhouse. Here you see: a table (on the table is: a seed jar, a trowel), a sink, a clay pot. "
    "You also see: a door to the hallway (that is closed).",
    "The thermometer shows 21.5 degrees. It showed 19.25 degrees before.",
    "The cat moves from the sofa to the window, and the bird flies from the window to the tree.",
    "a b c d e f g h",
    "a b a b a b. b a b a b a. a a b b.",
    "one two three. three two one. two two two.",
    "Added 2 x oat milk (3.49 each) to the basket. Total: 6.98 EUR.",
    "Error 404: no playlist with the id 8817 was found. Try again with another id.",
    '{"status": "ok", "count": 3, "items": ["lamp", "rope", "map"]}',
    '{"note_id": 1556, "title": "Groceries", "tags": ["home", "weekly"], "price": 12.40}',
    "The fuse is blown... The room goes dark... Somebody laughs.",
    "Go north. Go north. Go north. Go east. Open the gate.",
    "Inventory:\n\ta rope\n\ta lantern (lit)\n\ttwo candles\n",
    "$ ls -l\ntotal 8\n-rw-r--r-- 1 ana ana 220 notes.txt\n-rwxr-xr-x 1 ana ana 4096 run.sh\n",
    "The file /srv/app/config.v2.yaml was saved at 10.30 a.m. by j.doe@example.org.",
    "The user is signed out. All sessions of the user are closed. The last one was open for 3 days.",
    "Дверь открыта. За дверью тёмный коридор. В коридоре горит лампа.",
    "El gato está en la ventana. El pájaro está en el árbol. La ventana está abierta.",
    "灯 在 桌子 上。 桌子 在 房间 里。",
    "The robot 🤖 picks up the cup ☕. The cup is full. The robot 🤖 waits.",
    "Solved 2 of 5 puzzles. Score: 40 %. Lives: 3. Hints: 0.",
    "Alice hands the letter to Bob. Bob reads the letter. Bob hands the letter to Carol. Carol burns the letter.",
    "You pour the acid into the beaker, which turns the litmus paper red.",
    "Seat 14C is booked. Seat 14D is free. Seat 14E is blocked for the crew.",
    "the the the the cat the the. cat the the cat.",
    "Day 3. The plant is 12 cm high. Its leaves are green. Day 4. The plant is 14 cm high. Its leaves are yellow.",
    # Sentences of more words than a machine word has bits.
    "# # # # # # # # # # #\n# @ - - o - - # - - #\n# - # # # # - # - o #\n# - - - - # - - - - #\n# # # - # # # # - # #\n# o - - - - - - - > #\n# # # # # # # # # # #",
    "red blue red green blue red yellow green red blue blue red green yellow red green blue yellow red blue green red "
    "yellow yellow blue red green blue red red green blue yellow green red blue red yellow green blue red green red blue",
]

WORDS = sorted({word for gold in GOLDS[:12] for word in gold.split()}) + ["not", "closed", "Door.", "7.5", "..", ".", "é"]

# A space of each kind on which Python and JavaScript may differ, and characters that only look like one.
SPACES = ["\t", "\n", "\r\n", "\x0b", "\x0c", "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u2003", "\u2028", "\u3000", "\ufeff", "\u200b"]

EDGES = [
    ("", ""), ("", "."), (".", "..."), ("", "a"), ("a", ""), ("a", "."), (".", "a"), (" ", " "), (" ", ""), (" ", "a"),
    ("a", " "), ("a", "a"), ("a.", "a"), ("a. ", "a"), ("a. ", "a. "), ("a . b", "a.b"), (". a", "a"), ("..a..", "a"),
    ("A", "a"), ("a,", "a"), ("a\nb", "a b"), ("a b", "b a"), ("a b. b a", "a b"), ("a b", "a b. b a"), ("a a a", "a"),
    ("a", "a a a"), ("b a", "a b. b"), ("x y z", "a b c"), ("1.5", "1.6"), ("1.5", "15"), ("a-\nb", "ab"), ("a -\n", "a -"), ("...", "a"), (". .", ". ."),
    (". .", "a. b"), ("a b c. d", "d. a b c"), ("w1 w2 w6 w7 w8. w1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"),
] + [(f"a{space}b", "a b") for space in SPACES] + [(f"a.{space}", "a") for space in SPACES]


def mutate(text, draw):
    words = text.split(" ")
    at = draw.randrange(len(words))
    to = draw.randrange(len(words))
    kind = draw.randrange(12)
    if kind == 0:
        del words[at]
    elif kind == 1:
        words.insert(at, draw.choice(WORDS))
    elif kind == 2:
        words[at] = draw.choice(WORDS)
    elif kind == 3:
        words[at], words[to] = words[to], words[at]
    elif kind == 4:
        words.insert(to, words[at])
    elif kind == 5:
        words[min(at, to) : max(at, to)] = reversed(words[min(at, to) : max(at, to)])
    elif kind == 6:
        del words[min(at, to) : max(at, to)]
    elif kind == 7:
        words = words[at:] + words[:at]
    elif kind == 8:
        words[at] = words[at].swapcase()
    elif kind == 9:
        words[at] += draw.choice([".", ". ", "..", ",", "\n"])
    elif kind == 10:
        words[at] = words[at].replace(".", draw.choice(["", ";", " . "]))
    else:
        sentences = " ".join(words).split(".")
        draw.shuffle(sentences)
        return ".".join(sentences)
    return " ".join(words)


def mutations(gold, count, draw):
    for _ in range(count):
        output = gold
        for _ in range(draw.randint(1, 6)):
            output = mutate(output, draw)
        yield output


def scores(output, gold):
    try:
        found = rouge.Rouge().get_scores(output or " ", gold or " ")[0]["rouge-l"]
    except ValueError:
        found = {"p": None, "r": None, "f": None}
    return [output, found["p"], found["r"], found["f"], sacrebleu.sentence_bleu(output, [gold]).score / 100]


def main():
    draw = random.Random(SEED)
    pairs = {}
    for output, gold in EDGES:
        pairs.setdefault(gold, []).append(output)
    mutated = PAIRS - len(EDGES)
    for index, gold in enumerate(GOLDS):
        share = mutated // len(GOLDS) + (index < mutated % len(GOLDS))
        pairs.setdefault(gold, []).extend(mutations(gold, share, draw))
    for gold, outputs in pairs.items():
        line = {"gold": gold, "outputs": [scores(output, gold) for output in outputs]}
        # In ASCII, so that every kind of space is visible.
        print(json.dumps(line, separators=(",", ":")))


main()
