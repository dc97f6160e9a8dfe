import { z } from "zod";
import { EvaluationError } from "../evaluation-error.ts";
import type { Verdict } from "../evaluator-outcome.ts";
import { defineFamily } from "../family.ts";
import { compileJsonSchema, type JsonSchema, type ValidateJson } from "./compile-json-schema.ts";
import { cutText } from "./cut-text.ts";
import { notJson } from "./not-json.ts";
import { plainRange, stripTagsSetting } from "./plain-output.ts";
import { readJson } from "./read-json.ts";

const maxListed = 20;
const maxNamed = 5;
const maxTextLength = 300;
const cheapSchemaLength = 2_000;
/** Longer ones take up to half a second. */
const quickSchemaLength = 2_000;
const cheapOutputLength = 5_000;
/** No more than a guess: it may be a hundredth or a hundred times. */
const otherSchemaMs = 10;
/** With these, the time depends on more than the sizes of schema and output. */
const expensiveKeyword = /"(?:\$ref|\$dynamicRef|pattern|patternProperties|format|uniqueItems)":/;

const config = z
  .strictObject({
    schema: z.union([z.boolean(), z.record(z.string(), z.unknown())]).meta({
      description: "A JSON Schema of draft 2020-12, or of draft-07 if its `$schema` says so.",
    }),
    strip_tags: stripTagsSetting(true),
  })
  .superRefine(({ schema }, context) => {
    if (isLongSchema(schema)) return;
    try {
      checkSchema(schema);
    } catch (error) {
      context.addIssue({ code: "custom", path: ["schema"], message: (error as Error).message });
    }
  });

/** A list of small values takes fifty times the memory of its text: about 250 MB at this length. */
const maxCharacters = 4_000_000;

export const jsonSchema = defineFamily({
  kind: "rule",
  name: "json-schema",
  description: "The output is JSON that is valid against a schema.",
  versions: ["2026-11-21"],
  needs: ["output"],
  config,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "The output is JSON, whatever it contains.",
      config: { schema: true, strip_tags: true },
    },
  ],
  prepare(profile) {
    let validate: ValidateJson | undefined;
    return ({ output = "" }) => {
      const [start, end] = profile.strip_tags ? plainRange(output) : [0, output.length];
      const read = readJson(output.slice(start, end));
      if (read.issue !== undefined) return notJson(output, read.issue, [start, end]);
      // Compiled for the first sample, which may run in another thread. All errors are collected only where there cannot be many.
      validate ??= compileChecked(profile.schema);
      return toVerdict(callValidate(validate, read.value));
    };
  },
  expensiveCheck: {
    path: ["schema"],
    isNeeded: ({ schema }) => isLongSchema(schema),
    run: ({ schema }) => checkSchema(schema),
  },
  estimateMs: ({ output = "" }, { schema }) =>
    output.length / cheapOutputLength + (isCheapSchema(schema) ? 0 : otherSchemaMs),
});

function isLongSchema(schema: JsonSchema): boolean {
  return JSON.stringify(schema).length > quickSchemaLength;
}

/** Throws an `Error` whose message may go into a response. */
function checkSchema(schema: JsonSchema): void {
  try {
    compileJsonSchema(schema, { allErrors: false });
  } catch (error) {
    throw new Error(cutText((error as Error).message, maxTextLength));
  }
}

function compileChecked(schema: JsonSchema): ValidateJson {
  try {
    return compileJsonSchema(schema, { allErrors: isCheapSchema(schema), isChecked: true });
  } catch (error) {
    // An earlier version accepted it.
    throw new EvaluationError("invalid_profile", "The schema is no longer valid.", { cause: error });
  }
}

function isCheapSchema(schema: JsonSchema): boolean {
  const text = JSON.stringify(schema);
  return text.length <= cheapSchemaLength && !expensiveKeyword.test(text);
}

function callValidate(validate: ValidateJson, value: unknown): ReturnType<ValidateJson> {
  try {
    return validate(value);
  } catch (error) {
    if (error instanceof RangeError)
      throw new EvaluationError("timeout", "The schema refers to itself endlessly.", { cause: error });
    throw error;
  }
}

function toVerdict(found: ReturnType<ValidateJson>): Verdict {
  if (found.length === 0)
    return { pass: true, score: 1, explain: () => "The output is valid against the schema." };
  const errors = found.slice(0, maxListed).map(({ instancePath, message = "is not valid" }) => ({
    path: cutText(instancePath, maxTextLength),
    message: cutText(message, maxTextLength),
  }));
  return {
    pass: false,
    score: 0,
    extra: { errors },
    explain: () => {
      const named = errors
        .slice(0, maxNamed)
        .map(({ path, message }) => `${path || "the document"} ${message}`);
      const more = found.length - named.length;
      return `The output is not valid: ${named.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`;
    },
  };
}
