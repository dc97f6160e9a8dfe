import { expect, test } from "bun:test";
import { stateChange, stateOfInput } from "./state-change.ts";

function evaluate(input: string, output: string, goldAnswer: string, profile = {}) {
  return stateChange.prepare(stateChange.config.parse(profile))({ input, output, goldAnswer });
}

const room = "The kitchen.\n\ta cup\n\ta closed door\n";
const opened = "The kitchen.\n\ta cup\n\tan open door\n";

test("the gold answer itself scores 1", () => {
  const verdict = evaluate(room, opened, opened);
  expect(verdict).toMatchObject({ pass: true, score: 1 });
  expect(verdict.extra).toEqual({
    compared_as: "lines",
    changed: 1,
    right: 1,
    missed: 0,
    wrong: 0,
    overlap: 1,
    unchanged_baseline: 2 / 3,
  });
  expect(verdict.explain()).toBe("1 line changed, and the output has it right.");
});

test("a copy of the input scores 0 if something changed, however much is the same", () => {
  const verdict = evaluate(room, room, opened);
  expect(verdict).toMatchObject({
    pass: false,
    score: 0,
    extra: { overlap: 2 / 3, unchanged_baseline: 2 / 3 },
  });
  expect(verdict.explain()).toBe(
    '1 line changed; the output gets 0 right and misses 1. Missing: "an open door". Still there: "a closed door".',
  );
});

test("an explanation that ends with a quoted sentence has one full stop", () => {
  expect(evaluate("A room.", "A room.", "A room.\nYou see a box.").explain()).toEndWith(
    'Missing: "You see a box."',
  );
});

test("where nothing changed, saying so scores 1 and anything else 0", () => {
  expect(evaluate(room, room, room)).toMatchObject({ pass: true, score: 1 });
  expect(evaluate(room, opened, room)).toMatchObject({ pass: false, score: 0 });
  expect(evaluate("", "", "")).toMatchObject({ score: 1 });
});

test("the explanation says what was invented and what was lost", () => {
  expect(evaluate(room, "The kitchen.\n\ta dog", `${opened}\ta cat`).explain()).toBe(
    '2 lines changed; the output gets 0 right, misses 2 and gets 1 wrong. Missing: "an open door", "a cat". ' +
      'Invented: "a dog". Lost, although unchanged: "a cup".',
  );
  expect(evaluate('{"a":1,"b":2}', '{"a":3,"b":4}', '{"a":3,"b":4}').explain()).toBe(
    "2 fields changed, and the output has them right.",
  );
});

test("the explanation shows long lines from where they differ", () => {
  const line = (end: string) => `${"The corridor goes on. ".repeat(5)}The door is ${end}.`;
  expect(evaluate(line("shut"), line("gone"), line("open")).explain()).toBe(
    '1 line changed; the output gets 0 right, misses 1 and gets 1 wrong. Missing: "…oes on. The door is open." ' +
      'Invented: "…oes on. The door is gone."',
  );
});

test("an infinite number is not null", () => {
  expect(evaluate('{"a":1}', '{"a":1e400}', '{"a":null}').pass).toBe(false);
});

test("a replaced observation earns nothing by being replaced", () => {
  expect(evaluate("You move the cup.", "It rains.", "You focus on the cup.")).toMatchObject({ score: 0 });
});

test("the wrong lines of the output are reported, in code points after the reasoning", () => {
  const output = "<think>😀 a dog</think>The kitchen.\r\n\ta dog  \n\ta cup\n\tan open door";
  const verdict = evaluate(room, output, opened);
  expect(verdict.score).toBeCloseTo(2 / 3, 12);
  const at = [...output].join("|").split("|").indexOf("\t");
  expect(verdict.positions).toEqual([[at, at + "\ta dog".length]]);
});

test("of equal lines the last are reported, as many as are wrong", () => {
  expect(evaluate("a", "a\nb\nb\nb", "a\nb").positions).toEqual([
    [4, 5],
    [6, 7],
  ]);
});

test("at most a thousand positions are reported, and all are counted", () => {
  const verdict = evaluate("a", "b\n".repeat(5_000), "a");
  expect(verdict).toMatchObject({ score: 0, extra: { wrong: 5_000 } });
  expect(verdict.positions).toHaveLength(1_000);
  expect(verdict.positions?.[0]).toEqual([0, 1]);
});

test("white space at a line's end and empty lines do not count", () => {
  expect(evaluate(room, opened.replaceAll("\n", "  \r\n\n"), opened).score).toBe(1);
});

test("the state is read from a composed prompt", () => {
  const prompt = `State: ${room}\n\nAction: open door`;
  expect(evaluate(prompt, room, opened).score).toBe(0);
  expect(evaluate(prompt, opened, opened).extra).toMatchObject({ unchanged_baseline: 2 / 3 });
});

test("JSON is compared field by field, whatever its layout", () => {
  const before = '<tool_response>{"items":[{"id":1,"open":false}],"count":1,"by":"x"}</tool_response>';
  const gold = '{"items":[{"id":1,"open":true}],"count":2,"by":"x"}';
  expect(
    evaluate(before, '{ "by": "x", "count": 2, "items": [ {"open": true, "id": 1.0} ] }', gold).score,
  ).toBe(1);
  const half = evaluate(before, '{"items":[{"id":1,"open":true}],"count":1,"by":"x"}', gold);
  expect(half.score).toBeCloseTo(2 / 3, 12);
  expect(half.extra).toMatchObject({ compared_as: "json", changed: 2, right: 1, missed: 1, wrong: 0 });
  expect(half.explain()).toContain('Missing: "/count = 2". Still there: "/count = 1".');
});

test("every field is new if the state before is prose", () => {
  expect(evaluate("The task begins.", "[]", "[]").score).toBe(1);
  expect(evaluate("The task begins.", "{}", "[]").score).toBe(0);
});

test("an output that is not JSON scores 0 if the gold answer is", () => {
  const verdict = evaluate('{"a":1,"b":2}', "a is 1", '{"a":1}');
  expect(verdict).toMatchObject({ pass: false, score: 0 });
  expect(verdict.explain()).toBe("The output is not JSON from character 0 on: a value is expected here.");
  expect(evaluate('{"a":1}', "3", '{"a":1}').explain()).toBe(
    "The output is neither a JSON object nor a list, and the gold answer is one.",
  );
});

test("long integers are distinguished", () => {
  expect(evaluate('{"id":1}', '{"id":12345678901234567890}', '{"id":12345678901234567891}').score).toBe(0);
});

test("a megabyte of lines or of nesting is compared", () => {
  const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}`).join("\n");
  expect(evaluate(lines, `${lines}\nnew`, `${lines}\nnew`).score).toBe(1);
  const nested = "[".repeat(500_000) + "]".repeat(500_000);
  expect(evaluate("x", nested, nested)).toMatchObject({ score: 1, extra: { compared_as: "lines" } });
});

test("a state by itself is the state", () => {
  expect(stateOfInput("The door is open.\nAction: none")).toBe("The door is open.\nAction: none");
  expect(stateOfInput("")).toBe("");
});

test("the state is read from a composed prompt", () => {
  expect(stateOfInput("State: The door is open.\n\nAction: close door")).toBe("The door is open.");
  expect(stateOfInput("State: \n\nAction: look")).toBe("");
  expect(stateOfInput("## ENVIRONMENT STATE\nA house.\n\nState: Here.\nThere.\n\nAction: look")).toBe(
    "Here.\nThere.",
  );
});

test("a state that quotes an action is read whole", () => {
  expect(stateOfInput("State: Log:\n\nAction: open\nDone.\n\nAction: close")).toBe(
    "Log:\n\nAction: open\nDone.",
  );
});
