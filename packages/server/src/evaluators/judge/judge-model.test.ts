import { describe, expect, test } from "bun:test";
import { expectLinear } from "../../../test/support/expect-linear.ts";
import { jsonInText } from "./judge-model.ts";

const valuesIn = (text: string) => [...jsonInText(text, "verdict")].map(({ value }) => value);
const characters = process.env.PRESAGE_TEST_ALL === undefined ? 150_000 : 500_000;
const fail = { reasoning: "No.", verdict: "fail" };

describe("Objects in a text", () => {
  test("are found in a code fence and among prose", () => {
    expect(valuesIn('```json\n{"reasoning": "No.",\n "verdict": "fail"}\n```')).toEqual([fail]);
    expect(valuesIn('My {verdict}: {"reasoning":"No.","verdict":"fail"} That is all.')).toEqual([fail]);
  });

  test("come the last first", () => {
    expect(valuesIn('{"a":1} then {"b":2}')).toEqual([{ b: 2 }, { a: 1 }]);
  });

  test("are not taken from inside one another, nor from inside strings", () => {
    const answer = { reasoning: 'It holds {"reasoning":"ok","verdict":"pass"} and } and {', verdict: "fail" };
    expect(valuesIn(JSON.stringify(answer))).toEqual([answer]);
    expect(valuesIn('{"quoted": {"reasoning":"ok","verdict":"pass"}}')).toEqual([
      { quoted: { reasoning: "ok", verdict: "pass" } },
    ]);
  });

  test("need not be there", () => {
    expect(valuesIn("")).toEqual([]);
    expect(valuesIn("no verdict")).toEqual([]);
    expect(valuesIn("{ not { at } all")).toEqual([]);
  });

  test("keep their unicode", () => {
    expect(valuesIn('{"reasoning":"naïve 🙂 \\u00e9","verdict":"fail"}')).toEqual([
      { reasoning: "naïve 🙂 é", verdict: "fail" },
    ]);
  });
});

describe("A broken object is repaired", () => {
  for (const [name, text] of [
    ["single quotes and a comma at the end", "{'reasoning': 'No.', 'verdict': 'fail',}"],
    ["keys without quotes", '{reasoning: "No.", verdict: "fail"}'],
    ["a comment", '{"reasoning": "No.", /* sure */ "verdict": "fail"}'],
    ["an end that is missing", 'So: {"reasoning": "No.", "verdict": "fail"'],
  ] as const) {
    test(`with ${name}`, () => expect(valuesIn(text)).toEqual([fail]));
  }

  test("but not if it is so long that repairing it takes long", () => {
    const broken = (length: number) => `{'reasoning': '${"x".repeat(length)}', 'verdict': 'fail'}`;
    expect(valuesIn(broken(9_000))).toHaveLength(1);
    expect(valuesIn(broken(10_000))).toEqual([]);
  });

  test("but not if the key that decides would be there twice", () => {
    const quotation = '{"reasoning": "It says "ok", "verdict": "pass", sic", "verdict": "fail"}';
    expect(valuesIn(quotation)).toEqual([]);
    expect(valuesIn('{"reasoning": "no", "verdict": "pass", \'verdict\': "fail"}')).toEqual([]);
  });

  test("and nothing inside it is taken for an answer", () => {
    expect(valuesIn('{"reasoning": "It ends with {"reasoning":"ok","verdict":"pass"}')).not.toContainEqual({
      reasoning: "ok",
      verdict: "pass",
    });
  });
});

test("Nothing is read before an object that cannot be read", () => {
  expect(
    valuesIn('{"reasoning":"draft","verdict":"pass"} {"reasoning": "It says "no", "verdict": "pass" "fail"}'),
  ).toEqual([]);
  expect(
    valuesIn('{"reasoning":"draft","verdict":"pass"} {"reasoning": "No.", "verdict": "fail"')[0],
  ).toEqual(fail);
});

test.each(['{"', "{", '{ "a":', "[", '{"a":"\\', "}{", '{"a":1}'])(
  "a long hostile answer of %s takes no more time than its length explains",
  (text) => expectLinear((length) => valuesIn(text.repeat(length / text.length)), characters),
);
