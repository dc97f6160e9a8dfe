import { expect, test } from "bun:test";
import { DatasetChange } from "@presage/contract";
import type { Json } from "./json.ts";
import { whatCounts } from "./state-change.ts";

const lamp = { id: 1, heat: 3 };
const stove = { id: 2, heat: 4 };
const state = { objects: [lamp, stove], "a b": { c: 1 }, look: "around" };

test("paths choose parts of a document, or leave them out", () => {
  const cases: [string, Json | undefined, Json | undefined][] = [
    ["$", state, undefined],
    [
      "$.objects[*].heat",
      { objects: [{ heat: 3 }, { heat: 4 }] },
      { ...state, objects: [{ id: 1 }, { id: 2 }] },
    ],
    ["$.objects[1]", { objects: [stove] }, { ...state, objects: [lamp] }],
    ["$['a b'].*", { "a b": { c: 1 } }, { ...state, "a b": {} }],
    ["$.look.deeper", undefined, state],
    ["$.missing", undefined, state],
  ];
  for (const [path, chosen, left] of cases) {
    expect([path, whatCounts(state, { paths: [path] })]).toEqual([path, chosen]);
    expect([path, whatCounts(state, { ignore: [path] })]).toEqual([path, left]);
  }
});

test("what is no path, and both or neither of the two lists are refused", () => {
  for (const path of ["objects", "$.", "$..a", "$[a]", "$.a[", "$.a b"]) {
    expect([path, DatasetChange.safeParse({ paths: [path] }).success]).toEqual([path, false]);
  }
  for (const wrong of [{}, { paths: [] }, { paths: ["$.a"], ignore: ["$.b"] }]) {
    expect(DatasetChange.safeParse(wrong).success).toBe(false);
  }
});
