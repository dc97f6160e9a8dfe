import { expect, test } from "bun:test";
import { readNumbers } from "./numeric.ts";

const valuesOf = (text: string) => [...readNumbers(text)].map(({ value }) => value);

test.each<[string, number[]]>([
  ["no number", []],
  ["", []],
  ["42", [42]],
  ["1,234.5 and 1,234,567", [1234.5, 1_234_567]],
  ["0.5,0.7", [0.5, 0.7]],
  ["1,23", [1, 23]],
  ["0,123", [0, 123]],
  ["1,234,56", [1, 234, 56]],
  ["[100, 200, 300]", [100, 200, 300]],
  ["-3e-4 +2E3 −7 3e−2", [-0.0003, 2000, -7, 0.03]],
  ["12% of 5kg", [12, 5]],
  ["3.14.15 and 192.168.0.1", [3, 14, 15, 192, 168, 0, 1]],
  ["2024-01-05T10:30:00", [2024, 1, 5, 10, 30, 0]],
  ["5-3, item-3, (2)-1, x = -3, (-4)", [5, 3, 3, 2, 1, -3, -4]],
  [".5 and -.25", [0.5, -0.25]],
  ["The answer is...42", [42]],
  ["0..10, [1..9], [0..-5]", [0, 10, 1, 9, 0, -5]],
  ["-$50.00, −€1,234.5, $-3, -$.5, $5-$10", [-50, -1234.5, -3, -0.5, 5, 10]],
  ["It is 7. Or 8, or 9.", [7, 8, 9]],
  ["song17 H2O 1e5x", [17, 2, 1, 5]],
  ["٣ ５ x²", []],
])("%p holds %p", (text, values) => {
  expect(valuesOf(text)).toEqual(values);
});

test("a number knows where it stands", () => {
  const text = "😀 -1,234.5e2; 3.1.4";
  const found = [...readNumbers(text)].map(({ start, end }) => text.slice(start, end));
  expect(found).toEqual(["-1,234.5e2", "3", "1", "4"]);
});

test("a megabyte of digits made to be slow is read at once", () => {
  expect(valuesOf(`${"100,".repeat(250_000)}1`)).toHaveLength(250_001);
  expect(valuesOf("1.".repeat(500_000))).toHaveLength(500_000);
  expect(valuesOf(`1e${"1".repeat(1_000_000)}x`)).toHaveLength(2);
});
