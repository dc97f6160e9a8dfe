import { describe, expect, test } from "bun:test";
import * as contract from "@presage/contract";
import { z } from "zod";
import { InvalidRequestError, validate } from "./validate.ts";

/** Made with real pydantic models by `pydantic-cases.py`. */
const lines = (await Bun.file(new URL("pydantic-cases.jsonl", import.meta.url)).text()).trim().split("\n");

const Case = z.object({
  schema: z.string(),
  body: z.unknown(),
  issues: z.array(contract.ValidationError),
});
const cases = lines.map((line) => Case.parse(JSON.parse(line)));
const schemas = new Map<string, unknown>(Object.entries(contract));

/** Pydantic's own reason why a text is no UUID or date-time is not repeated. */
function comparable({ type, loc, msg, ctx }: contract.ValidationError) {
  return /^(uuid_parsing|datetime_)/.test(type) ? { type, loc } : { type, loc, msg, ctx };
}

function issuesOf(name: string, body: unknown): contract.ValidationError[] {
  const schema = schemas.get(name);
  if (!(schema instanceof z.ZodType)) throw new Error(`There is no schema ${name}.`);
  try {
    validate(schema, body, "body");
    return [];
  } catch (error) {
    if (error instanceof InvalidRequestError) return error.issues;
    throw error;
  }
}

describe("pydantic's issues are found, and no others, in", () => {
  for (const name of new Set(cases.map(({ schema }) => schema))) {
    test(name, () => {
      for (const { schema, body, issues } of cases) {
        if (schema !== name) continue;
        const expected = issues.map((issue) => comparable({ ...issue, loc: ["body", ...issue.loc] }));
        const found = issuesOf(name, body).map(comparable);
        expect({ body, issues: sorted(found) }).toEqual({ body, issues: sorted(expected) });
      }
    });
  }
});

function sorted(issues: readonly { loc: contract.ValidationError["loc"] }[]) {
  return issues.toSorted((a, b) => (JSON.stringify(a.loc) < JSON.stringify(b.loc) ? -1 : 1));
}

test.each([
  [1e300, "int_type"],
  [-1e21, "int_type"],
  [2 ** 53, "less_than_equal"],
  [-(2 ** 53), "greater_than"],
])("%d for a positive integer is %s", (value, type) => {
  const body = { messages: [], max_tokens: value };
  expect(issuesOf("ChatCompletionRequest", body)).toMatchObject([{ type, loc: ["body", "max_tokens"] }]);
});

test("of what can be one of several, the faults of the one that it resembles most are found", () => {
  const issues = (body: unknown) =>
    issuesOf("RunTarget", body).map(({ loc, msg }) => [loc.slice(1).join("."), msg]);
  expect(issues({ baseline: "no-chnge" })).toEqual([
    ["baseline", "Input should be 'no-change', 'most-frequent' or 'retrieval'"],
  ]);
  expect(issues({ baseline: "no-change", from: {} })).toEqual([["from", "Extra inputs are not permitted"]]);
  expect(issues({ baseline: "most-frequent", from: {} })).toEqual([["from.dataset_id", "Field required"]]);
  expect(issues({ predictions: "x" })).toEqual([["predictions", "Input should be 'imported'"]]);
  expect(issues({ deployment: 5 })).toEqual([["deployment", "Input should be a valid string"]]);
  expect(issues("default")).toEqual([
    ["", "Input should be a valid dictionary or object to extract fields from"],
  ]);
});

test("of a world's model, what is wrong with a retrieval is said of a retrieval", () => {
  const found = issuesOf("WorldModel", { kind: "retrieval", answer: "adapt" });
  expect(found).toEqual([
    expect.objectContaining({ loc: ["body", "answer"], msg: "Input should be 'adapted' or 'nearest'" }),
  ]);
  expect(issuesOf("WorldModel", { kind: "records" })).toEqual([
    expect.objectContaining({ loc: ["body", "kind"], msg: "Input should be 'retrieval'" }),
  ]);
  expect(issuesOf("WorldModel", { deployment: "big", kind: "retrieval" })).toEqual([
    expect.objectContaining({ loc: ["body", "deployment"], msg: "Extra inputs are not permitted" }),
  ]);
});
