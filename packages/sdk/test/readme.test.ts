import { expect, test } from "bun:test";
import { createPresage } from "../src/create-presage.ts";

test("the README lists every method of every resource", async () => {
  const readme = await Bun.file(new URL("../README.md", import.meta.url)).text();
  const namesIn = (cell = "") => Array.from(cell.matchAll(/`(\w+)`/g), ([, name = ""]) => name).sort();
  const rows = readme.split("## All methods")[1]?.split("\n\n")[1]?.split("\n").slice(2) ?? [];
  const listed = rows.flatMap((row) => {
    const [, names, methods] = row.split("|");
    return namesIn(names).map((name) => [name, namesIn(methods)]);
  });
  const made = Object.entries(createPresage({ baseUrl: "http://localhost" }));
  const own = made.map(([name, of]) => [name, typeof of === "function" ? [] : Object.keys(of).sort()]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(own));
});
