import { expect, test } from "bun:test";
import { createCountedModels } from "./collect-usage.ts";

const names = (count: number) => Array.from({ length: count }, (_, number) => `name ${number}`);

test("an account has 100 names an hour besides those with a price", () => {
  const counted = createCountedModels((model) => model === "priced");
  for (const name of names(100)) expect(counted("a", 1, name)).toBe(name);
  expect(counted("a", 1, "one more")).toBeUndefined();
  expect(counted("a", 1, "name 7")).toBe("name 7");
  expect(counted("a", 1, "priced")).toBe("priced");
  expect(counted("b", 1, "one more")).toBe("one more");
  expect(counted("a", 2, "one more")).toBe("one more");
});

test("names that are long, or that no database stores, are not counted", () => {
  const counted = createCountedModels(() => false);
  for (const name of ["", "x".repeat(201), "a\0", "a\nb", "\ud800", "\u202e"])
    expect(counted("a", 1, name)).toBeUndefined();
  for (const name of ["x".repeat(200), "Qwen/Qwen3-8B wm", "模型"]) expect(counted("a", 1, name)).toBe(name);
  expect(counted("a", 1, undefined)).toBeUndefined();
});
