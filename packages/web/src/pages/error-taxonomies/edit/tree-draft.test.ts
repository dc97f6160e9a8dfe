import { expect, test } from "bun:test";
import { draftOfBody, readTree, switchSide } from "./tree-draft.ts";

const plain = { errors: [{ name: "rude", description: "Hurts." }] };
const rich = { version: 2, errors: [{ name: "rude", severity: 3 }] };

test("a body of names and descriptions starts as an outline, unchanged", () => {
  const draft = draftOfBody(plain);
  expect(draft.side).toBe("outline");
  expect(draft.outline).toBe("rude: Hurts.");
  expect(readTree(draft).body).toEqual(plain);
});

test("a body with other fields starts as JSON, unchanged", () => {
  const draft = draftOfBody(rich);
  expect(draft.side).toBe("json");
  expect(readTree(draft).body).toEqual(rich);
});

test("switching to the outline and back loses nothing", () => {
  const draft = draftOfBody(rich);
  const outlined = { ...draft, ...switchSide(draft, "outline") };
  const back = { ...outlined, ...switchSide(outlined, "json") };
  expect(readTree(back).body).toEqual(rich);
});

test("changes in the outline appear in the JSON", () => {
  const draft = { ...draftOfBody(plain), outline: "rude: Hurts.\ncold" };
  const switched = { ...draft, ...switchSide(draft, "json") };
  expect(readTree(switched).body).toEqual({
    errors: [{ name: "rude", description: "Hurts." }, { name: "cold" }],
  });
});

test("invalid text cannot be switched, and is reported", () => {
  const brokenJson = { ...draftOfBody(plain), side: "json", json: "{" };
  expect(switchSide(brokenJson, "outline")).toEqual({});
  expect(readTree(brokenJson)).toMatchObject({
    body: undefined,
    issues: [expect.stringContaining("Invalid JSON")],
  });
  const brokenOutline = { ...draftOfBody(plain), outline: "one\none" };
  expect(switchSide(brokenOutline, "json")).toEqual({});
  expect(readTree(brokenOutline).issues).toEqual(["Line 2 repeats “one” in the same category."]);
});

test("too many kinds of error are an issue", () => {
  const outline = Array.from({ length: 501 }, (_, index) => `kind ${index}`).join("\n");
  expect(readTree({ outline, json: "{}", side: "outline" }).issues).toHaveLength(1);
});
