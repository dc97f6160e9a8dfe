import { expect, test } from "bun:test";
import { configErrorLines } from "../../test/support/config-error-lines.ts";
import { parsePrices } from "./files.ts";

const parse = (text: string) => parsePrices("/etc/presage/prices.yaml", text);

const linesOf = (text: string) => configErrorLines(() => parse(text));

const expectedPrice = "expected a price per million tokens, a number from 0 to 1000000000";

test("a list is read with its defaults: US dollars, and cached tokens at the price of others", () => {
  const text = `models:
  gpt-6-mini: { prompt: 0.15, cached: 0.075, completion: 0.60 }
  Qwen/Qwen3-8B-wm: { prompt: 0.02, completion: 0 }   # our own
`;
  const models = new Map([
    ["gpt-6-mini", { prompt: 0.15, cached: 0.075, completion: 0.6 }],
    ["Qwen/Qwen3-8B-wm", { prompt: 0.02, cached: 0.02, completion: 0 }],
  ]);
  expect(parse(text)).toEqual({ currency: "USD", models });
  expect(parse(`currency: EUR\n${text}`)).toEqual({ currency: "EUR", models });
});

test("every issue has a line with its place in the file", () => {
  const text = `currency: euros
models:
  a: { prompt: -1, completion: .inf }
  b:
    prompt: "0.15"
    cached: 2e9
    completions: 3
  c: 4
  "d\\0": { prompt: 1, completion: 1 }
discount: 5
`;
  expect(linesOf(text)).toEqual([
    "prices.yaml:1: currency: expected the ISO code of a currency, such as USD",
    `prices.yaml:3: models.a.prompt: ${expectedPrice}`,
    `prices.yaml:3: models.a.completion: ${expectedPrice}`,
    `prices.yaml:4: models.b.completion: missing; ${expectedPrice}`,
    `prices.yaml:5: models.b.prompt: ${expectedPrice}`,
    `prices.yaml:6: models.b.cached: ${expectedPrice}`,
    "prices.yaml:7: models.b.completions: unknown key",
    "prices.yaml:8: models.c: expected a map of keys and values",
    "prices.yaml:9: models.d\0: expected a model's name of up to 200 characters on one line",
    "prices.yaml:10: discount: unknown key",
  ]);
});

test.each([
  ["", "prices.yaml:1: expected a map of keys and values"],
  ["models: {}", "prices.yaml:1: models: expected 1 to 1000 models and their prices"],
  ["currency: EUR", "prices.yaml:1: models: missing; expected 1 to 1000 models and their prices"],
  [
    "models:\n  a: { prompt: 1, completion: 2 }\n  a: { prompt: 1, completion: 2 }",
    "prices.yaml:3: Map keys must be unique",
  ],
  ["models: { a: { prompt: 1, prompt: 2, completion: 2 } }", "prices.yaml:1: Map keys must be unique"],
  ["models: { a: { prompt: .nan, completion: 2 } }", `prices.yaml:1: models.a.prompt: ${expectedPrice}`],
  ["models: { a: { prompt: , completion: 2 } }", `prices.yaml:1: models.a.prompt: ${expectedPrice}`],
])("%p is refused", (text, line) => {
  expect(linesOf(text)).toEqual([line]);
});
