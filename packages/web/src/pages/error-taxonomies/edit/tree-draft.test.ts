import { expect, test } from "bun:test";
import { draftOfBody, readTree, switchSide } from "./tree-draft.ts";

const plain = { errors: [{ name: "rude", description: "Hurts." }] };
const rich = { version: 2, errors: [{ name: "rude", severity: 3 }] };

test("a body of names and descriptions is begun as an outline, and stays what it was", () => {
  const draft = draftOfBody(plain);
  expect(draft.side).toBe("outline");
  expect(draft.outline).toBe("rude: Hurts.");
  expect(readTree(draft).body).toEqual(plain);
});

test("a body that says more is begun as JSON, and stays what it was", () => {
  const draft = draftOfBody(rich);
  expect(draft.side).toBe("json");
  expect(readTree(draft).body).toEqual(rich);
});

test("looking at the outline and going back takes nothing away", () => {
  const draft = draftOfBody(rich);
  const outlined = { ...draft, ...switchSide(draft, "outline") };
  const back = { ...outlined, ...switchSide(outlined, "json") };
  expect(readTree(back).body).toEqual(rich);
});

test("what was changed in the outline is there as JSON", () => {
  const draft = { ...draftOfBody(plain), outline: "rude: Hurts.\ncold" };
  const switched = { ...draft, ...switchSide(draft, "json") };
  expect(readTree(switched).body).toEqual({
    errors: [{ name: "rude", description: "Hurts." }, { name: "cold" }],
  });
});

test("what cannot be read stays on its side, and says why", () => {
  const brokenJson = { ...draftOfBody(plain), side: "json", json: "{" };
  expect(switchSide(brokenJson, "outline")).toEqual({});
  expect(readTree(brokenJson)).toMatchObject({
    body: undefined,
    issues: [expect.stringContaining("no JSON")],
  });
  const brokenOutline = { ...draftOfBody(plain), outline: "one\none" };
  expect(switchSide(brokenOutline, "json")).toEqual({});
  expect(readTree(brokenOutline).issues).toEqual(["Line 2 says “one” a second time in the same place."]);
});

test("more kinds than an evaluation takes are a issue", () => {
  const outline = Array.from({ length: 501 }, (_, index) => `kind ${index}`).join("\n");
  expect(readTree({ outline, json: "{}", side: "outline" }).issues).toHaveLength(1);
});
