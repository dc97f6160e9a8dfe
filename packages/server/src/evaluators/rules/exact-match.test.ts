import { expect, test } from "bun:test";
import { exactMatch } from "./exact-match.ts";

function evaluate(output: string, goldAnswer: string, config: Record<string, unknown> = {}) {
  return exactMatch.prepare(exactMatch.config.parse(config))({ output, goldAnswer });
}

test("white space at the ends does not count by default, and inside it does", () => {
  expect(evaluate(" The door is open.\n", "The door is open.").score).toBe(1);
  expect(evaluate("The door  is open.", "The door is open.").pass).toBe(false);
  expect(evaluate("a ", "a", { trim: false }).pass).toBe(false);
});

test("empty texts are equal, and an empty text differs from any other", () => {
  expect(evaluate("", "").pass).toBe(true);
  expect(evaluate(" \n", "").pass).toBe(true);
  expect(evaluate("", "a")).toMatchObject({ pass: false, score: 0, positions: [[0, 0]] });
});

test("case counts unless the profile says otherwise", () => {
  expect(evaluate("OPEN", "open").pass).toBe(false);
  expect(evaluate("ÖFFNE", "öffne", { ignore_case: true }).pass).toBe(true);
});

test("the place of the difference is reported in code points of the original output", () => {
  const verdict = evaluate("\n😀 open ", "😀 shut");
  expect(verdict.positions).toEqual([[3, 7]]);
  expect(verdict.explain()).toBe(
    'The output differs from character 3 on: it has "open", but the gold answer has "shut".',
  );
});

test("with tags removed, the place is still that in the original output", () => {
  const verdict = evaluate("<think>5</think>5", "4", { strip_tags: true });
  expect(verdict.positions).toEqual([[16, 17]]);
  expect(evaluate("<think>5</think>4", "4", { strip_tags: true }).pass).toBe(true);
});

test("ignoring case keeps the place, but for letters that change their length", () => {
  expect(evaluate(" ABD", "abc", { ignore_case: true }).positions).toEqual([[3, 4]]);
  expect(evaluate("İx", "y", { ignore_case: true }).positions).toBeUndefined();
});

test("the variants of published scripts explain their verdicts, and ignore the other settings", () => {
  const word2world = evaluate("\x1f😀 open\n", "😀 shut", { variant: "word2world", ignore_case: true });
  expect(word2world).toMatchObject({ pass: false, score: 0, positions: [[3, 7]] });
  expect(word2world.explain()).toBe(
    'The output differs from character 3 on: it has "open", but the gold answer has "shut".',
  );
  const semantic = evaluate("<think>?</think>[1]", "[1.0]", { variant: "mdlm-semantic", strip_tags: false });
  expect([semantic.pass, semantic.extra]).toEqual([true, { compared_as: "json" }]);
  const exact = evaluate("[1]", "[1.0]", { variant: "mdlm-exact" });
  expect(exact.explain()).toContain("different JSON");
  expect(evaluate("open", "shut", { variant: "mdlm-exact" }).extra).toEqual({ compared_as: "text" });
});

test("what `mdlm` leaves out, or would take too much memory, cannot be evaluated", () => {
  const evaluateGold = (gold: string) => () => evaluate("a", gold, { variant: "mdlm-semantic" });
  expect(evaluateGold("<tool_response> </tool_response>")).toThrow("The gold answer is empty");
  expect(evaluateGold("a".repeat(2_500_000))).toThrow("at most 2500000 characters");
});

test("the default profile equals an empty config", () => {
  expect(exactMatch.config.parse({})).toEqual(exactMatch.config.parse(exactMatch.builtInProfiles[0]?.config));
  expect(exactMatch.config.safeParse({ trimm: true }).success).toBe(false);
});
