import { expect, test } from "bun:test";
import { readDraft } from "../../parts/playground-draft.ts";
import { examples } from "./examples.ts";

test.each(examples.map((example) => [example.name, example] as const))(
  "“%s” can be predicted and evaluated unchanged",
  (_, { draft }) => {
    expect(readDraft(draft).issues).toEqual({});
    expect(draft.goldAnswer).not.toBe("");
  },
);
