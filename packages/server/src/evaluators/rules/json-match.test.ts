import { expect, test } from "bun:test";
import { UnusableSampleError } from "../outcome.ts";
import { jsonMatch } from "./json-match.ts";

function evaluate(output: string, goldAnswer: string, config: Record<string, unknown> = {}) {
  return jsonMatch.prepare(jsonMatch.config.parse(config))({ output, goldAnswer });
}

test("the score is the F1 of equal leaves", () => {
  // Gold has the leaves /a /b/0 /b/1 /c, the output /a /b/0 /d: two of three are right, two of four are found.
  const verdict = evaluate('{"a":1,"b":[2],"d":{}}', '{"a":1.0,"b":[2,3],"c":"x"}');
  expect(verdict.pass).toBe(false);
  expect(verdict.score).toBeCloseTo(4 / 7, 12);
  expect(verdict.extra).toMatchObject({
    precision: 2 / 3,
    recall: 2 / 4,
    fields: { output: 3, gold: 4, equal: 2 },
    missing: [
      { path: "/b/1", gold: "3" },
      { path: "/c", gold: '"x"' },
    ],
    unexpected: [{ path: "/d", output: "{}" }],
    different: [],
  });
  expect(verdict.explain()).toBe(
    "2 of the gold answer's 4 fields are right; missing: /b/1, /c; unexpected: /d.",
  );
});

test("a long text is shown up to a whole character", () => {
  for (const text of ["😀".repeat(60), `a${"😀".repeat(60)}`])
    expect(evaluate(JSON.stringify(text), "1").explain()).not.toMatch(/[\uD800-\uDBFF]…|\\ud83d/);
});

test("long texts are shown where they differ", () => {
  const said = JSON.stringify(`${"x".repeat(200)}😀 open`);
  expect(evaluate(said, said.replace("open", "shut")).explain()).toContain(
    `("…${"x".repeat(17)}😀 open", should be "…${"x".repeat(17)}😀 shut")`,
  );
});

test("a document of one field is described as such", () => {
  expect(evaluate("1", "2").explain()).toBe(
    "The gold answer's only field is not right; different: the document (1, should be 2).",
  );
  expect(evaluate('{"a":1,"b":1}', '{"a":1}').explain()).toBe(
    "The gold answer's only field is right; unexpected: /b.",
  );
});

test("a field with another value is wrong on both sides", () => {
  const verdict = evaluate('{"a":1,"é/~":"😀"}', '{"a":2,"é/~":"😁"}');
  expect(verdict.score).toBe(0);
  expect(verdict.extra?.different).toEqual([
    { path: "/a", output: "1", gold: "2" },
    { path: "/é~1~0", output: '"😀"', gold: '"😁"' },
  ]);
});

test("the order of keys does not count, that of an array does", () => {
  expect(evaluate('{"a":1,"b":2}', '{"b":2,"a":1}')).toMatchObject({ pass: true, score: 1 });
  expect(evaluate("[1,2,3]", "[1,3,2]").score).toBeCloseTo(1 / 3, 12);
});

test.each([
  ["{}", "{}", 1],
  ["[]", "[]", 1],
  ["{}", "[]", 0],
  ["{}", '{"a":1}', 0],
  ['{"a":{}}', '{"a":{"b":1}}', 0],
  ['["x"]', '{"0":"x"}', 0],
  ["null", "null", 1],
  ["null", "{}", 0],
  ['{"a":null}', "{}", 0],
  ['"1"', "1", 0],
  ["true", "1", 0],
  ["1e2", "100", 1],
  ["-0", "0", 1],
  ["100000000000000000", "1e17", 1],
  ["9007199254740993", "9007199254740992", 0],
  ["123456789012345678901234567890", "123456789012345678901234567890", 1],
  ['{"__proto__":1}', "{}", 0],
  ['{"constructor":1}', '{"constructor":1}', 1],
])("%s against %s scores %d", (output, gold, score) => {
  expect(evaluate(output, gold)).toMatchObject({ pass: score === 1, score });
});

test("tags are removed on both sides, so that a perfect prediction scores 1", () => {
  const gold = '<tool_response>\n{"note_id": 1556, "tags": ["a"]}\n</tool_response>';
  expect(evaluate(gold, gold).score).toBe(1);
  expect(evaluate('<think>?</think>{"note_id":1556,"tags":["a"]}', gold).score).toBe(1);
});

test("an output that is not JSON fails, with the place in the original output", () => {
  const verdict = evaluate('<think>😀</think>{"a":1,}', '{"a":1}');
  expect(verdict).toMatchObject({ pass: false, score: 0, positions: [[23, 24]] });
  expect(verdict.explain()).toBe(
    "The output is not JSON from character 23 on: a key in double quotes is expected here.",
  );
  expect(evaluate("", "{}")).toMatchObject({ pass: false, score: 0 });
});

test("near-JSON is repaired only if the profile says so", () => {
  expect(evaluate("{a:1,}", '{"a":1}').score).toBe(0);
  const mended = evaluate("{a:1,}", '{"a":1}', { repair: true });
  expect(mended).toMatchObject({ pass: true, score: 1, extra: { repaired: true } });
  expect(evaluate('{"a":1}', '{"a":1}', { repair: true }).extra).not.toHaveProperty("repaired");
  expect(evaluate('"a" "b" {', '{"a":1}', { repair: true }).score).toBe(0);
});

test("a gold answer that is not JSON makes the sample unusable", () => {
  expect(() => evaluate("{}", "The door is open.")).toThrow(UnusableSampleError);
});

test("a gold answer in prose is compared as text, if the profile says so", () => {
  const profile = { prose_gold: "text" };
  const builtIn = jsonMatch.builtInProfiles.find(({ name }) => name === "system:json-or-text");
  expect(jsonMatch.config.parse(builtIn?.config)).toEqual(jsonMatch.config.parse(profile));
  const gold = "<tool_response>\nThe door is open.\n</tool_response>";
  const right = evaluate("<think>?</think>The door is open.", gold, profile);
  expect(right).toMatchObject({ pass: true, score: 1, extra: { compared_as: "text" } });
  const wrong = evaluate("<think>😀</think>The door is shut.", gold, profile);
  expect(wrong).toMatchObject({ pass: false, score: 0, positions: [[28, 33]] });
  expect(wrong.explain()).toBe(
    'The output differs from character 28 on: it has "shut.", but the gold answer has "open.".',
  );
  expect(evaluate('{"a":1}', gold, profile).score).toBe(0);
  // Where the gold answer is JSON, nothing changes.
  expect(evaluate('{"b":2,"a":1.0}', '{"a":1,"b":2}', profile)).toMatchObject({ pass: true, score: 1 });
  expect(evaluate("The door is open.", '{"a":1}', profile).explain()).toStartWith("The output is not JSON");
});

test("text after a tool response does not count, nor an end tag without its start", () => {
  const gold = '<tool_response>{"a":1}</tool_response>';
  for (const output of [`${gold}\nI hope this helps.`, '{"a":1}\n</tool_response>', `${gold}${gold}`]) {
    expect(evaluate(output, gold)).toMatchObject({ pass: true, score: 1 });
  }
  expect(evaluate('Here: <tool_response>{"a":1,}</tool_response> Done.', gold).positions).toEqual([[28, 29]]);
});

test("ignored paths do not count, on either side", () => {
  const config = { ignore_paths: ["/id", "/rows/0", "/meta/at"] };
  expect(evaluate('{"a":1,"id":5}', '{"a":1,"id":6}', config).score).toBe(1);
  expect(evaluate('{"rows":[1,2]}', '{"rows":[9,2]}', config).score).toBe(1);
  expect(evaluate('{"meta":{"at":1}}', '{"meta":{}}', config).score).toBe(1);
  expect(evaluate("1", "2", { ignore_paths: [""] }).score).toBe(1);
  expect(jsonMatch.config.safeParse({ ignore_paths: ["id"] }).success).toBe(false);
});

test("numbers may differ by the tolerance", () => {
  expect(evaluate("[1.04, 10]", "[1, 10]", { number_tolerance: 0.05 }).score).toBe(1);
  expect(evaluate("[1.06, 10]", "[1, 10]", { number_tolerance: 0.05 }).score).toBe(0.5);
  expect(evaluate("[19.99, 0.8]", "[20, 0.7]", { number_tolerance: 0.1 }).score).toBe(1);
  expect(evaluate("[19.99]", "[20]", { number_tolerance: 0.01 }).score).toBe(1);
  const large = ["1732700000000000", "1234567890123456789", "123456789.33", "1732700000000000.25"];
  const near = ["1732700000000001", "1234567890123456788", "123456789.32", "1732700000000000"];
  const verdicts = large.map((one, at) => evaluate(one, `${near[at]}`, { number_tolerance: 0.01 }).pass);
  expect(verdicts).toEqual([false, false, true, false]);
  expect(evaluate("1e999", "null").explain()).toContain('("1e999", should be null)');
  expect(evaluate("1e400", "1e500").score).toBe(0);
  expect(evaluate("1e400", "1e400").score).toBe(1);
  expect(evaluate("1e999", "-1e999", { number_tolerance: 1 }).score).toBe(0);
});

test("nesting of 10,000 levels has a clear outcome", () => {
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  expect(evaluate(deep, "[]").explain()).toBe(
    "The output is not JSON from character 1000 on: nested deeper than 1000 levels.",
  );
  expect(evaluate(deep, "[]", { repair: true }).score).toBe(0);
  expect(evaluate("[".repeat(100_000), "[]", { repair: true }).score).toBe(0);
  expect(() => evaluate("[]", deep)).toThrow(UnusableSampleError);
});

test("a megabyte is compared in bounded time, also below a key of half of that", () => {
  const long = JSON.stringify({ ["k".repeat(500_000)]: Array.from({ length: 100_000 }, () => 1) });
  const other = long.replaceAll("1", "2");
  const started = performance.now();
  const verdict = evaluate(long, other);
  expect(verdict.extra).toMatchObject({ different_count: 100_000 });
  expect(JSON.stringify(verdict.extra).length).toBeLessThan(20_000);
  expect(verdict.explain().length).toBeLessThan(5_000);
  expect(performance.now() - started).toBeLessThan(5_000);
  const estimatedMs = jsonMatch.estimateMs?.({ output: long, goldAnswer: other }, jsonMatch.config.parse({}));
  expect(estimatedMs).toBeGreaterThan(1);
});

test("an output that may need repair is expensive sooner", () => {
  const isExpensive = (repair: boolean) =>
    (jsonMatch.estimateMs?.(
      { output: "[".repeat(5_000), goldAnswer: "[]" },
      jsonMatch.config.parse({ repair }),
    ) ?? 0) > 1;
  expect(isExpensive(false)).toBe(false);
  expect(isExpensive(true)).toBe(true);
});

const llmSimState = (isOn: boolean, contains: string[]) => ({
  look: "You see a stove.",
  objects: [{ uuid: 2, name: "stove (ID: 2)", properties: { isOn, heat: 20 }, contains }],
});

test("`llm-sim` takes the states of a dataset, and names what is wrong", () => {
  const gold = JSON.stringify(llmSimState(true, ["pot", "cup"]));
  const evaluateState = (state: unknown) => evaluate(JSON.stringify(state), gold, { variant: "llm-sim" });
  expect(evaluateState({ ...llmSimState(true, ["cup", "pot"]), look: "…" })).toMatchObject({
    pass: true,
    score: 1,
    extra: { object_errors: 0, score_errors: 0, wrong_format: false },
  });
  const wrong = evaluateState(llmSimState(false, ["pot"]));
  expect(wrong).toMatchObject({ pass: false, score: 0, extra: { object_errors: 2 } });
  expect(wrong.explain()).toBe("Wrong: isOn of stove (ID: 2); contains of stove (ID: 2).");
  expect(evaluateState({ objects: [] }).explain()).toBe("Wrong: stove (ID: 2) is missing.");
  expect(evaluateState([]).extra).toEqual({ object_errors: null, score_errors: null, wrong_format: true });
});

test("`llm-sim-diff` applies the output to the state in the input, also in that of a composed prompt", () => {
  const [before, after] = [llmSimState(false, []), llmSimState(true, [])];
  const config = jsonMatch.config.parse({ variant: "llm-sim-diff" });
  const evaluateChanges = (input: string) =>
    jsonMatch.prepare(config)({
      input,
      output: JSON.stringify({ modified: after.objects, removed: [] }),
      goldAnswer: JSON.stringify(after),
    });
  expect(jsonMatch.needsWith?.(config)).toEqual(["input"]);
  expect(evaluateChanges(JSON.stringify(before)).pass).toBe(true);
  expect(evaluateChanges(`State: ${JSON.stringify(before)}\n\nAction: turn on stove`).pass).toBe(true);
  expect(() => evaluateChanges("A kitchen.")).toThrow("The input is not a state of LLM-Sim");
  expect(() => evaluateChanges("a".repeat(2_500_000))).toThrow("at most 2500000 characters");
});

test("a gold answer that is not a state of LLM-Sim cannot be evaluated", () => {
  for (const gold of ["The stove is on.", "{}", '{"objects":[{"uuid":1}]}', '{"objects":1}']) {
    expect(() => evaluate("{}", gold, { variant: "llm-sim" })).toThrow(UnusableSampleError);
  }
});
