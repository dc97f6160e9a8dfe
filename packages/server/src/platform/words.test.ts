import { expect, test } from "bun:test";
import { similarName } from "./words.ts";

const commands = ["serve", "config", "migrate", "keys", "users", "predict", "evaluate"];

test.each([
  ["evalute", "evaluate"],
  ["Predict", "predict"],
  ["key", "keys"],
  ["user", "users"],
  ["srve", "serve"],
])("%s is understood as %s", (misspelt, name) => expect(similarName(misspelt, commands)).toBe(name));

test("a word that resembles no name stands for none", () => {
  expect(similarName("login", commands)).toBeUndefined();
  expect(similarName("x", commands)).toBeUndefined();
});
