import { expect, test } from "bun:test";
import { type Language, tokenize } from "./tokenize.ts";

const kinds = (text: string, language: Language) =>
  tokenize(text, language)
    ?.filter(({ kind }) => kind !== "plain")
    .map(({ kind, text }) => [kind, text.trim()]);

test("JSON has properties, texts, numbers and words", () => {
  expect(kinds('{"room": "hall", "lamps": 2, "open": true}', "json")).toEqual([
    ["property", '"room"'],
    ["string", '"hall"'],
    ["property", '"lamps"'],
    ["number", "2"],
    ["property", '"open"'],
    ["keyword", "true"],
  ]);
});

test("Python, TypeScript and shell have keywords, texts and comments", () => {
  expect(kinds('import os # why\nprint("x")', "python")).toEqual([
    ["keyword", "import"],
    ["comment", "# why"],
    ["string", '"x"'],
  ]);
  expect(kinds("const room = `hall`; // why", "typescript")).toEqual([
    ["keyword", "const"],
    ["string", "`hall`"],
    ["comment", "// why"],
  ]);
  expect(kinds("curl -d '{}' # why", "shell")).toEqual([
    ["string", "'{}'"],
    ["comment", "# why"],
  ]);
});

test("the parts are exactly the text, whatever it is", () => {
  const texts = [
    '{"a": "\u202e\u200b\ud83d\udc69\u200d\ud83d\ude80"}',
    '"'.repeat(1_001),
    "`${".repeat(500),
    "\\".repeat(999),
    "<img src=x onerror=alert(1)>\n".repeat(50),
    "\ud800 lone",
    "",
  ];
  for (const text of texts) {
    for (const language of ["json", "python", "shell", "typescript"] as const) {
      expect(
        tokenize(text, language)
          ?.map((token) => token.text)
          .join(""),
      ).toBe(text);
    }
  }
});

test("long texts stay plain", () => {
  expect(tokenize(" ".repeat(100_000), "json")).toBeUndefined();
});
