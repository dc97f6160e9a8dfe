import { expect, test } from "bun:test";
import { emptyDraft, isEmptyDraft, parseDraft } from "./draft.ts";

test("a draft is restored as it was typed", () => {
  const draft = {
    ...emptyDraft,
    context: { ...emptyDraft.context, tool_schemas: "  [\n" },
    state: "You’re in “the hall”.\n",
    params: { ...emptyDraft.params, temperature: "0,", further: '{"seed": ' },
  };
  expect(parseDraft(JSON.stringify(draft))).toEqual(draft);
});

test.each([null, "", "{", "null", "[]", '"text"', '{"context":null,"params":7,"state":{}}'])(
  "a corrupt draft (%s) is read as far as possible",
  (stored) => {
    expect(parseDraft(stored)).toEqual(emptyDraft);
  },
);

test("a draft is empty until something is typed", () => {
  expect(isEmptyDraft(emptyDraft)).toBe(true);
  expect(isEmptyDraft({ ...emptyDraft, params: { ...emptyDraft.params, top_k: "1" } })).toBe(false);
  expect(isEmptyDraft({ ...emptyDraft, goldAnswer: " " })).toBe(false);
});
