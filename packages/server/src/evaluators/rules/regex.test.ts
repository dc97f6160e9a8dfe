import { expect, test } from "bun:test";
import { regex } from "./regex.ts";

function evaluate(output: string, config: Record<string, unknown>) {
  return regex.prepare(regex.config.parse(config))({ output });
}

test("positions of matches are in code points", () => {
  const verdict = evaluate("😀 12 and 345", { pattern: "\\d+" });
  expect(verdict).toMatchObject({
    pass: true,
    score: 1,
    positions: [
      [2, 4],
      [9, 12],
    ],
  });
  expect(verdict.explain()).toBe("/\\d+/ matches from character 2 to 4, and at 1 other place.");
});

test("no_match passes without a match, and reports the matches otherwise", () => {
  expect(evaluate("open", { pattern: "\\d", expect: "no_match" }).pass).toBe(true);
  expect(evaluate("open 7", { pattern: "\\d", expect: "no_match" })).toMatchObject({
    pass: false,
    score: 0,
    positions: [[5, 6]],
  });
});

test("full needs the whole output", () => {
  expect(evaluate("open door", { pattern: "open|open door", match: "full" }).pass).toBe(true);
  expect(evaluate("open door.", { pattern: "open door", match: "full" }).pass).toBe(false);
});

test("the flags do what they say", () => {
  expect(evaluate("OPEN", { pattern: "open", ignore_case: true }).pass).toBe(true);
  expect(evaluate("a\nb", { pattern: "^b$" }).pass).toBe(false);
  expect(evaluate("a\nb", { pattern: "^b$", multiline: true }).pass).toBe(true);
  expect(evaluate("a\nb", { pattern: "a.b" }).pass).toBe(false);
  expect(evaluate("a\nb", { pattern: "a.b", dot_all: true }).pass).toBe(true);
});

test("a pattern that can match the empty string ends", () => {
  expect(evaluate("😀", { pattern: "x*" }).positions).toEqual([
    [0, 0],
    [1, 1],
  ]);
  expect(evaluate("", { pattern: "^$" }).positions).toEqual([[0, 0]]);
});

test.each(["(a)\\1", "(?=a)", "(", "((a{0,1000}){0,1000}){0,1000}", "a".repeat(10_000)])(
  "the pattern %# is refused at its field",
  (pattern) => {
    const { error } = regex.config.safeParse({ pattern });
    expect(error?.issues.map(({ path }) => path)).toEqual([["pattern"]]);
  },
);

test.each(["(a|a)*b", "(a+a+)+b", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)(.*)(.*)x$"])(
  "%s, which explodes in a backtracking engine, reads 100 KB in bounded time",
  (pattern) => {
    const started = performance.now();
    expect(evaluate("a".repeat(100_000), { pattern }).pass).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  },
);

test("long texts and large patterns are expensive, small ones are not", () => {
  const isExpensive = (output: string, pattern: string) =>
    (regex.estimateMs?.({ output }, regex.config.parse({ pattern })) ?? 0) > 1;
  expect(isExpensive("a".repeat(100), "a{1,500}b")).toBe(false);
  expect(isExpensive("a".repeat(1_000), "a{1,500}b")).toBe(true);
  expect(isExpensive("", "(a{0,50}){20}(b{0,50}){20}")).toBe(true);
  // Each of a hundred searches reads to the end.
  expect(isExpensive("x".repeat(8_000), "x(?:.*y)?")).toBe(true);
  expect(isExpensive("x".repeat(8_000), "x.y")).toBe(false);
});

test("the default profile needs an output that is not blank", () => {
  const evaluateDefault = regex.prepare(regex.config.parse(regex.builtInProfiles[0]?.config));
  expect(evaluateDefault({ output: " \n\u00a0" }).pass).toBe(false);
  expect(evaluateDefault({ output: " x" }).pass).toBe(true);
});
