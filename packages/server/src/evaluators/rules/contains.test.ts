import { expect, test } from "bun:test";
import { contains } from "./contains.ts";

function evaluate(output: string, config: Record<string, unknown>) {
  return contains.prepare(contains.config.parse(config))({ output });
}

test("the score of all is the share that was found", () => {
  const verdict = evaluate("a lamp and a key", { substrings: ["lamp", "key", "door", "gate"] });
  expect(verdict).toMatchObject({ pass: false, score: 0.5 });
  expect(verdict.explain()).toBe('The output lacks "door", "gate".');
  expect(evaluate("a lamp and a key", { substrings: ["lamp", "key"] })).toMatchObject({
    pass: true,
    score: 1,
  });
});

test("a substring that is named twice counts once", () => {
  expect(evaluate("a lamp", { substrings: ["lamp", "lamp", "key"] }).score).toBe(0.5);
});

test("any needs one", () => {
  expect(evaluate("a key", { substrings: ["lamp", "key"], mode: "any" })).toMatchObject({
    pass: true,
    score: 1,
  });
  const verdict = evaluate("a door", { substrings: ["lamp", "key"], mode: "any" });
  expect(verdict).toMatchObject({ pass: false, score: 0 });
  expect(verdict.explain()).toBe('The output contains none of "lamp", "key".');
});

test("none names what was found, and where", () => {
  const verdict = evaluate("😀 a key, a key", { substrings: ["lamp", "key"], mode: "none" });
  expect(verdict).toMatchObject({ pass: false, score: 0 });
  expect(verdict.positions).toEqual([
    [4, 7],
    [11, 14],
  ]);
  expect(verdict.explain()).toBe('The output contains forbidden substrings: "key" at character 4.');
  expect(evaluate("", { substrings: ["key"], mode: "none" }).pass).toBe(true);
});

test("ignoring case keeps positions right among letters that change their length", () => {
  expect(evaluate("İİ KEY", { substrings: ["key"], ignore_case: true }).positions).toEqual([[3, 6]]);
  expect(evaluate("KEY", { substrings: ["key"] }).pass).toBe(false);
});

test("a Greek word is found within another, whichever sigma it ends with", () => {
  const config = { substrings: ["ΟΔΟΣ"], ignore_case: true };
  expect(evaluate("ΟΔΟΣΗΜΑ", config)).toMatchObject({ pass: true, positions: [[0, 4]] });
  expect(evaluate("η οδός, η οδος", config).positions).toEqual([[10, 14]]);
});

test("at most a thousand positions are reported, the first ones of the text", () => {
  const verdict = evaluate(`b${"a".repeat(5_000)}`, { substrings: ["a", "b"] });
  expect(verdict.positions).toHaveLength(1_000);
  expect(verdict.positions?.[0]).toEqual([0, 1]);
  expect(verdict.pass).toBe(true);
});

test("the default profile fails refusals", () => {
  const profile = contains.builtInProfiles.find(({ name }) => name === "system:default");
  const evaluateDefault = contains.prepare(contains.config.parse(profile?.config));
  expect(evaluateDefault({ output: "I'M SORRY, BUT that is not possible." }).pass).toBe(false);
  const typographic = evaluateDefault({ output: "I’m sorry, but I can’t assist with that." });
  expect(typographic).toMatchObject({
    pass: false,
    positions: [
      [0, 14],
      [15, 22],
    ],
  });
  expect(evaluateDefault({ output: "The oven is now closed." }).pass).toBe(true);
});

test("an empty list is rejected", () => {
  expect(contains.config.safeParse({ substrings: [] }).success).toBe(false);
  expect(contains.config.safeParse({ substrings: [""] }).success).toBe(false);
});
