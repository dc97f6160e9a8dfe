import { expect, test } from "bun:test";
import { worldDefaults } from "@presage/contract/defaults";
import { collectExamples, type Example, type ExampleIndex, openIndex } from "./example-index.ts";
import { usedParts } from "./features.ts";
import { type FoundExamples, findExamples, type Wanted } from "./find-examples.ts";
import type { Fields } from "./world.ts";

const maxBytes = { action: 1_024, state: 2_048, task: 1_024 };
const fields = ["action", "state", "task"] as const;

function toIndex(examples: readonly Example[]): ExampleIndex {
  const collected = collectExamples();
  for (const example of examples) collected.add(example);
  return openIndex(collected.finish());
}

/** The normal form. From here to `expected` is the specification, over all pairs, with maps and texts. */
function normal(text: string, most = Number.POSITIVE_INFINITY): Buffer {
  const lowered = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const spaced = lowered.replace(/[\t\n\v\f\r ]+/g, " ").replace(/^ | $/g, "");
  return Buffer.from(spaced).subarray(0, most);
}

function vectorOf(text: string, most: number): Map<string, number> {
  const bytes = normal(text, most);
  if (bytes.length === 0) return new Map();
  const latin = ` ${bytes.toString("latin1")} `;
  const windows = Array.from({ length: latin.length - 2 }, (_, at) => latin.slice(at, at + 3));
  const weights = new Map(
    [...Map.groupBy(windows, (one) => one)].map(([w, all]) => [w, 1 + Math.log(all.length)]),
  );
  const norm = Math.sqrt([...weights.values()].reduce((sum, weight) => sum + weight * weight, 0));
  return new Map([...weights].map(([window, weight]) => [window, weight / norm]));
}

const vectorsOf = (texts: Fields) => fields.map((field) => vectorOf(texts[field], maxBytes[field]));
const round = (value: number) => Math.floor(value * 1e6 + 0.5) / 1e6;

function dot(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  return [...a].reduce((sum, [window, weight]) => sum + weight * (b.get(window) ?? 0), 0);
}

function expected(examples: readonly Example[], query: Fields, wanted: Wanted): FoundExamples {
  const { k, maxChars = Infinity, maxVisits = 50_000, minSimilarity = 0 } = wanted;
  const { excluded = [], excludedTags = {} } = wanted;
  const own = vectorsOf(query);
  const weights = fields.map((field, at) =>
    own[at]?.size ? (wanted.weights ?? worldDefaults.weights)[field] : 0,
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const scored = examples
    .filter(({ trajectoryId, tags = {} }) => {
      const isTagged = Object.entries(excludedTags).some(([name, value]) => tags[name] === value);
      return !isTagged && !excluded.includes(trajectoryId);
    })
    .map((example) => {
      const parts = vectorsOf(example.fields).map((vector, at) => dot(own[at] ?? new Map(), vector));
      const total = parts.reduce((all, part, at) => all + (part * (weights[at] ?? 0)) / sum, 0);
      return { example, action: parts[0] ?? 0, similarity: round(total) };
    });
  const visited = scored
    .sort((a, b) => round(b.action) - round(a.action) || a.example.position - b.example.position)
    .slice(0, maxVisits)
    .sort((a, b) => b.similarity - a.similarity || a.example.position - b.example.position)
    .filter(({ similarity }) => similarity > 0 && similarity >= minSimilarity);
  const chosen: FoundExamples["examples"] = [];
  const leftOut = { trajectory: examples.length - scored.length, duplicate: 0, budget: 0 };
  const seen = new Set<string>();
  let left = maxChars;
  for (const { example, similarity } of visited) {
    const { action, state } = example.fields;
    const size = (text: string, most: number) => Math.min([...text].length, most);
    const chars = size(state, 1_000) + size(action, Infinity) + size(example.nextState, 2_000);
    const pair = [normal(action).toString("latin1"), normal(example.nextState).toString("latin1")].join(
      "\0\0",
    );
    if (chosen.length === k) break;
    if (seen.has(pair)) leftOut.duplicate += 1;
    else if (chosen.length > 0 && chars > left) leftOut.budget += 1;
    if (seen.has(pair) || (chosen.length > 0 && chars > left)) continue;
    seen.add(pair);
    left -= chars;
    chosen.push({ position: example.position, similarity, chars, by: expect.anything() });
  }
  return { examples: chosen, isTruncated: expect.any(Boolean), leftOut };
}

/** The seeds of random sets. */
const seeds = process.env.PRESAGE_TEST_ALL === undefined ? 20 : 200;

/** A seeded generator of numbers below a limit. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const words = [
  "go",
  "GO",
  "open",
  "door",
  "das Öl",
  "狐狸",
  "🦊",
  "\ud83e",
  "a",
  "\t\n ",
  "İ",
  "ß",
  "the red box",
  "the blue box",
  "x".repeat(700),
];

function randomSet(random: (below: number) => number, size: number): Example[] {
  const some = (most: number) =>
    Array.from({ length: random(most + 1) }, () => words[random(words.length)]).join(random(2) ? " " : "");
  return Array.from({ length: size }, (_, at) => ({
    position: 2 * at + 1,
    trajectoryId: `t${random(5)}`,
    fields: { action: some(3), state: some(8), task: some(2) },
    nextState: some(2),
    tags: random(2) ? { task: `${random(3)}`, seed: "1" } : {},
  }));
}

test("an exhaustive search of random Unicode sets finds the same", () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const random = seeded(seed);
    const examples = randomSet(random, 1 + random(60));
    const index = toIndex(examples);
    const { fields: query, trajectoryId } = randomSet(random, 1)[0] as Example;
    for (const some of [query, examples[0]?.fields ?? query]) {
      const bounds: Partial<Wanted>[] = [
        {},
        { excluded: [trajectoryId] },
        { maxChars: random(800) },
        { excluded: [trajectoryId], excludedTags: { task: "1" } },
        { maxVisits: 1 + random(20), excluded: [trajectoryId] },
        { minSimilarity: 0.4, weights: { action: random(3), state: 1, task: random(2) } },
      ];
      for (const bound of bounds) {
        const wanted = { k: random(9), ...bound };
        expect({ seed, ...findExamples(index, some, wanted) }).toEqual({
          seed,
          ...expected(examples, some, wanted),
        });
      }
    }
  }
});

test("a search of many ends at the bound, and finds the same", () => {
  const random = seeded(7);
  const examples = Array.from(
    { length: 15 * seeds },
    (_, at): Example => ({
      position: at + 1,
      trajectoryId: `t${at % 50}`,
      fields: {
        action: `put thing ${random(200)} in box ${random(30)}`,
        state: `room ${random(90)} is lit`,
        task: "tidy up",
      },
      nextState: `done ${random(500)}`,
    }),
  );
  const index = toIndex(examples);
  for (const { fields: query, trajectoryId } of examples.slice(0, 10)) {
    const wanted = { k: 8, excluded: [trajectoryId] };
    expect(findExamples(index, query, wanted)).toEqual(expected(examples, query, wanted));
    const limited = { ...wanted, maxVisits: 40, maxChars: 300 };
    expect(findExamples(index, query, limited)).toEqual(expected(examples, query, limited));
  }
});

test("equal texts are held once, and examples without an action are found by the rest", () => {
  const examples = ["a", "b"].map(
    (nextState, at): Example => ({
      position: at + 1,
      trajectoryId: "t",
      fields: { action: " ", state: "The HALL", task: "find" },
      nextState,
    }),
  );
  const index = toIndex(examples);
  const counts = [index.positions, index.actions.norms, index.states.norms].map(({ length }) => length);
  expect(counts).toEqual([2, 1, 1]);
  const { examples: found } = findExamples(index, { action: "", state: "the\thall ", task: "" }, { k: 1 });
  expect(found).toMatchObject([{ position: 1, similarity: 1, by: { action: 0 }, chars: 10 }]);
  expect(findExamples(index, { action: "", state: "", task: "" }, { k: 1 }).examples).toEqual([]);
});

test("of a long text only the part that counts is searched for", () => {
  const texts = ["", "a", "aa", "aaa"].map((start) => start + "🙂 \t".repeat(100_000));
  texts.push("word ".repeat(100_000), "x".repeat(1_025));
  for (const text of texts) {
    const used = usedParts({ action: text, state: text, task: text });
    for (const field of fields)
      expect(normal(used[field], maxBytes[field])).toEqual(normal(text, maxBytes[field]));
    expect(used.state.length).toBeLessThan(20_000);
  }
  const late = `${" ".repeat(100_000)}look`;
  expect(usedParts({ action: late, state: "", task: "" }).action).toBe(late);
});
