import { describe, expect, test } from "bun:test";
import { scanJson } from "./json.ts";

const scan = (text: string) => scanJson(new TextEncoder().encode(text));
const list = (item: string, times: number) => `[${Array(times).fill(item).join(",")}]`;
const reasonOf = (text: string) => scan(text).refusal?.reason;

describe("Looking through a body before it is parsed", () => {
  test.each([
    ["numbers", list("1", 99_999), list("1", 100_000)],
    ["lists", list("[]", 99_999), list("[]", 100_000)],
    ["objects", list("{}", 99_999), list("{}", 100_000)],
    ["texts", list('"\\""', 99_999), list('"\\""', 100_000)],
    ["words", list("true", 99_999), list("null", 100_000)],
    ["members, whose keys are no values", list('{"a":1}', 49_999), list('{"a":1}', 50_000)],
  ])("counts %s", (_, enough, tooMany) => {
    expect(reasonOf(enough)).toBeUndefined();
    expect(reasonOf(tooMany)).toBe("A body has at most 100000 values");
  });

  test("counts nothing inside of texts, whatever quotes and backslashes they have", () => {
    for (const text of ["[1,{2:[", '\\"[1,', "\\\\", '\\\\\\"', "\\u0022"]) {
      expect(reasonOf(`{"a":"${text.repeat(200_000)}","b":[]}`)).toBeUndefined();
      // The end of each text is found as well.
      expect(reasonOf(`["${text.repeat(20_000)}",${"[".repeat(300)}`)).toMatch(/deeper than 256/);
    }
  });

  test("takes 256 levels, of lists and objects, and no more", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const nested = (levels: number) =>
        `${open.repeat(levels)}${close === "}" ? "1" : ""}${close.repeat(levels)}`;
      expect(scan(`[${nested(255)},${nested(255)}]`).refusal).toBeUndefined();
      expect(scan(nested(257)).refusal).toEqual({ isTooDeep: true, reason: "nested deeper than 256 levels" });
    }
  });

  test("takes numbers of 1,000 characters and no longer ones", () => {
    expect(reasonOf(`[${"1".repeat(1_000)}]`)).toBeUndefined();
    expect(reasonOf(`[-${"1".repeat(1_000)}]`)).toBe("A number has at most 1000 characters");
    expect(reasonOf(`[0.${"1".repeat(1_000)}]`)).toBe("A number has at most 1000 characters");
  });

  test.each([
    ["0", false],
    ["-12.5e-7", false],
    ["0.12345678901234567890", false],
    ["999999999999999", false],
    ["9007199254740993", true],
    ["-9007199254740993", true],
    ["1e309", true],
    ["-1E+400", true],
    [`${"9".repeat(310)}.5`, true],
  ])("of the number %s says whether a double may not hold it: %s", (number, mayBeLong) => {
    expect(scan(`{"a":[1,${number}]}`).mayHaveLongNumber).toBe(mayBeLong);
    expect(scan(number).mayHaveLongNumber).toBe(mayBeLong);
  });

  test("comes to the end of what is no JSON", () => {
    for (const text of ["", '"', '"\\', "]]]]", "}{", "-", "1e", "tru", ":::", '"a":', "\0\u00ff"]) {
      expect(scan(text).refusal).toBeUndefined();
    }
  });
});
