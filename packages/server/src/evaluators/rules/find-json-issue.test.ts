import { expect, test } from "bun:test";
import { findJsonIssue } from "./json.ts";

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
