import { expect, test } from "bun:test";
import { expectLinear } from "../../../test/support/expect-linear.ts";
import { readPythonJson } from "./python-values.ts";

test("integers keep their digits and are told apart from other numbers", () => {
  expect(readPythonJson("[1, 1.0, -0, -0.0, 1e2, 12345678901234567890]")).toEqual([
    1n,
    1,
    0n,
    -0,
    100,
    12345678901234567890n,
  ]);
});

test("Python's constants are read, but not in a text or as part of a word or number", () => {
  expect(readPythonJson("[NaN, Infinity, -Infinity]")).toEqual([Number.NaN, Infinity, -Infinity]);
  expect(readPythonJson('{"NaN": "\\"NaN, -Infinity"}')).toEqual({ NaN: '"NaN, -Infinity' });
  for (const text of ["-NaN", "+Infinity", "--Infinity", "NaN5", "1NaN", "{NaN: 1}", "[NaN", '"NaN']) {
    expect([text, readPythonJson(text)]).toEqual([text, undefined]);
  }
});

test("what Python refuses is not read", () => {
  for (const text of ["", "[1,]", "01", "\ufeff{}", '"a\tb"', "9".repeat(4_301), "[".repeat(2_000)]) {
    expect(readPythonJson(text)).toBeUndefined();
  }
  expect(readPythonJson(`-${"9".repeat(4_300)}`)).toBe(-(10n ** 4_300n - 1n));
});

test("a long hostile text is read in time that grows with its length", () => {
  for (const text of [
    (times: number) => 'NaN"\\'.repeat(times),
    (times: number) => `[${'NaN,"\\"",'.repeat(times)}1]`,
    (times: number) => "NaN ".repeat(times),
  ])
    expectLinear((times) => readPythonJson(text(times)), 150_000);
});
