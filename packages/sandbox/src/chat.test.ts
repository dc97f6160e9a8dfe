import { expect, test } from "bun:test";
import { countTokens, cutTokens } from "./chat.ts";

test("words and punctuation marks count, white space does not", () => {
  expect(countTokens("You open the fridge.\n\n")).toBe(5);
  expect(countTokens("")).toBe(0);
});

test("a text is cut after the last allowed token", () => {
  expect(cutTokens("You open the fridge.", 3)).toBe("You open the");
  expect(cutTokens("You open the fridge.", 5)).toBe("You open the fridge.");
});
