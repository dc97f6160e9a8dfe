import { expect, test } from "bun:test";
import { shortenLines } from "./code-block.tsx";

test("only long lines are cut", () => {
  const long = "x".repeat(1_001);
  expect(shortenLines(`a\n${long}\n\nb`)).toBe(`a\n${"x".repeat(1_000)}…\n\nb`);
  expect(shortenLines("a\nb\n")).toBe("a\nb\n");
});
