import { expect, test } from "bun:test";
import {
  findJsonIssue,
  isDeeperThan,
  maxJsonDepth,
  readExactJson,
  readJson,
  readJsonPointer,
  toJsonPointer,
} from "./json.ts";

test.each([
  ["", 0, "ends"],
  ['{"a":1,}', 7, "a key"],
  ["{a:1}", 1, "a key"],
  ["[1,]", 3, "a value"],
  ["nope", 0, "a value"],
  ['{"a":', 5, "ends"],
  ['{"a" 1}', 5, "a colon"],
  ["[1 2]", 3, "a comma"],
  ["{} {}", 3, "unexpected text"],
  ["01", 1, "unexpected text"],
  ["[1}", 2, "a comma"],
  ['"\\x"', 1, "escape"],
  ['"a\nb"', 2, "control"],
  ['"open', 5, "inside a string"],
  ["[[[]]]", 2, "deeper than 2"],
  [" {'a':1}", 2, "a key"],
])("%j breaks at unit %i", (text, at, reason) => {
  const issue = findJsonIssue(text, 2);
  expect(issue?.at).toBe(at);
  expect(issue?.reason).toContain(reason);
});

test.each(['{"a":[1,-0.5e+3,true,null,"\\u00e9\\n"],"b":{}}', " [] ", "0", '"😀"', "[1E400]"])(
  "%s has no issue",
  (text) => {
    expect(findJsonIssue(text, 10)).toBeUndefined();
  },
);

/** A seeded generator, so that a failure can be reproduced. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test("it agrees with the runtime's parser on 20,000 mutilated texts", () => {
  const random = createRandom(7);
  const whole = '{"a":[1,-0.5e+3,true,null,"\\u00e9\\n"],"b":{},"c":[[]]}';
  const pieces = ['"', "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\\", " ", "\t", "n", "u"];
  for (let round = 0; round < 20_000; round += 1) {
    const at = random(whole.length);
    const text = whole.slice(0, at) + pieces[random(pieces.length)] + whole.slice(at + random(3));
    let parses = true;
    try {
      JSON.parse(text);
    } catch {
      parses = false;
    }
    expect(findJsonIssue(text, 100) === undefined, text).toBe(parses);
  }
});

// The examples of RFC 6901, section 5.
test.each([
  ["", []],
  ["/foo", ["foo"]],
  ["/foo/0", ["foo", "0"]],
  ["/", [""]],
  ["/a~1b", ["a/b"]],
  ["/m~0n", ["m~n"]],
  ["/~01", ["~1"]],
])("the pointer %j is read and written", (pointer, keys) => {
  expect(readJsonPointer(pointer)).toEqual(keys);
  const path = keys.reduce<Parameters<typeof toJsonPointer>[0]>(
    (parent, key) => ({ parent, key }),
    undefined,
  );
  expect(toJsonPointer(path)).toBe(pointer);
});

test("what is not a pointer is rejected", () => {
  expect(readJsonPointer("foo")).toBeUndefined();
  expect(readJsonPointer("/a~2")).toBeUndefined();
});

test("long keys are cut", () => {
  expect(toJsonPointer({ parent: undefined, key: "k".repeat(100_000) }).length).toBeLessThan(200);
});

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test("long integers keep their digits where they have to", () => {
  expect(readExactJson('{"a":9007199254740993,"b":1.5,"c":123}')).toEqual({
    value: { a: 9007199254740993n, b: 1.5, c: 123 },
  });
  expect(readJson("9007199254740993")).toEqual({ value: 9007199254740992 });
  expect(readExactJson('"9007199254740993"')).toEqual({ value: "9007199254740993" });
});

test("a key named __proto__ is a key like any other", () => {
  const { value } = readExactJson('{"__proto__":{"a":1},"b":9007199254740993}') as { value: object };
  expect(Object.keys(value)).toEqual(["__proto__", "b"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test("nesting is bounded, and the issue is reported", () => {
  expect(readJson(nested(maxJsonDepth)).issue).toBeUndefined();
  expect(readExactJson(nested(maxJsonDepth).replace("[]", "[9007199254740993]")).issue).toBeUndefined();
  expect(readJson(nested(10_000)).issue).toEqual({ at: 1_000, reason: "nested deeper than 1000 levels" });
  expect(readJson("[".repeat(10_000)).issue?.reason).toContain("nested");
});

test("what is not JSON has a place where it breaks", () => {
  expect(readJson('{"a":1,}').issue?.at).toBe(7);
});

test("depth counts containers, not scalars", () => {
  expect(isDeeperThan(1, 0)).toBe(false);
  expect(isDeeperThan({}, 0)).toBe(true);
  expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
  expect(isDeeperThan({ a: [{}] }, 2)).toBe(true);
});
