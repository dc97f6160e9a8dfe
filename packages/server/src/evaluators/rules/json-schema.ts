import type { Ajv, AnySchemaObject, CodeKeywordDefinition, ErrorObject, Options } from "ajv";
import { z } from "zod";
import { compilePattern, maxProgramSize, patternLibrary } from "../../platform/patterns.ts";
import { andMore, shortened } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { EvaluationError, type Verdict } from "../outcome.ts";
import { isDeeperThan, notJson, readJson } from "./json.ts";
import { plainRange, stripTagsSetting } from "./text.ts";

/** A schema of this size compiles in 250 ms at worst. */
const maxSchemaLength = 32_000;
const maxSchemaDepth = 64;
/** References followed plus errors found: the two that can grow without bound. */
const maxSteps = 500_000;

/** The JSON Schema library, 9 MB, which is loaded when it is first needed. */
function ajvLibrary() {
  const { Ajv }: typeof import("ajv") = require("ajv");
  const { Ajv2020 }: typeof import("ajv/dist/2020.js") = require("ajv/dist/2020.js");
  const addFormats: typeof import("ajv-formats") = require("ajv-formats");
  return { Ajv, Ajv2020, addFormats: addFormats.default };
}

export type JsonSchema = boolean | Record<string, unknown>;
export type ValidateJson = (value: unknown) => readonly ErrorObject[];

interface CompileOptions {
  allErrors: boolean;
  /** Whether the schema was compiled before. If so, its form is not checked again, which takes longer than compiling a small schema. */
  isChecked?: boolean;
}

/** Compiles a schema from an untrusted author. If it cannot, throws an `Error` that says why. */
export function compileJsonSchema(schema: JsonSchema, options: CompileOptions): ValidateJson {
  checkBounds(schema);
  const ajv = createAjv(schema, options);
  const validate = ajv.compile(schema);
  if ("$async" in validate) throw new Error("$async schemas are not supported");
  return (value) => {
    let steps = 0;
    const step = () => {
      steps += 1;
      if (steps > maxSteps)
        throw new EvaluationError("timeout", `The schema takes more than ${maxSteps} steps on this output.`);
    };
    return validate.call({ step }, value) ? [] : (validate.errors ?? []);
  };
}

function checkBounds(schema: JsonSchema): void {
  if (isDeeperThan(schema, maxSchemaDepth))
    throw new Error(`the schema is nested deeper than ${maxSchemaDepth} levels`);
  if (JSON.stringify(schema).length > maxSchemaLength)
    throw new Error(`the schema is longer than ${maxSchemaLength} characters`);
}

function createAjv(schema: JsonSchema, { allErrors, isChecked = false }: CompileOptions): Ajv {
  const { addFormats, ...dialects } = ajvLibrary();
  const ajv = new dialects[typeof schema === "object" ? readDialect(schema) : "Ajv2020"]({
    allErrors,
    meta: !isChecked,
    validateSchema: !isChecked,
    // Otherwise an unknown or misspelt keyword would be ignored silently.
    strictSchema: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    // Inherited properties, such as `constructor`, are not part of the document.
    ownProperties: true,
    // Inlined references would let the code of a small schema grow without bound.
    inlineRefs: false,
    passContext: true,
    code: { optimize: false, regExp: createLinearRegExp(), process: countSteps },
    logger: false,
  } satisfies Options);
  addFormats(ajv);
  const keyword = "multipleOf";
  const { error } = ajv.getKeyword(keyword) as CodeKeywordDefinition;
  ajv.removeKeyword(keyword);
  const ofNumbers = { type: "number", schemaType: "number" } as const;
  ajv.addKeyword({ keyword, ...ofNumbers, validate: isMultiple, errors: false, ...(error && { error }) });
  return ajv;
}

/** In binary 19.99 / 0.01 is not quite an integer. */
function isMultiple(divisor: number, value: number): boolean {
  if (value % divisor === 0) return true;
  if (Number.isInteger(divisor)) return false;
  const rounding = Math.min(4 * Number.EPSILON * Math.abs(value), 0.01 * divisor);
  return Math.abs(value - Math.round(value / divisor) * divisor) <= rounding;
}

function readDialect({ $schema }: AnySchemaObject): "Ajv" | "Ajv2020" {
  if (
    $schema === undefined ||
    /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(String($schema))
  )
    return "Ajv2020";
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(String($schema))) return "Ajv";
  throw new Error("$schema must be that of draft 2020-12 or draft-07");
}

/** Matches patterns in linear time, with a limit on all patterns of a schema together. */
function createLinearRegExp() {
  const { RE2JS } = patternLibrary();
  let programSize = 0;
  const linearRegExp = (pattern: string) => {
    const compiled = compilePattern(RE2JS.translateRegExp(pattern));
    programSize += compiled.programSize();
    if (programSize > maxProgramSize) throw new Error("the patterns of the schema are too large together");
    // Ajv distinguishes patterns by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  };
  // Ajv requires it for writing modules, which is not done here.
  return Object.assign(linearRegExp, { code: "linearRegExp" });
}

/**
 * Ajv limits neither how often a schema refers to itself nor how many errors it collects,
 * so a schema of a few lines could fill the memory within seconds. The check of the schema itself is not counted.
 */
function countSteps(code: string): string {
  return code
    .replace("let vErrors = null;", "this?.step?.();let vErrors = null;")
    .replaceAll("errors++;", "errors++;this?.step?.();");
}

const maxListed = 20;
const maxNamed = 5;
const maxTextLength = 300;
const cheapSchemaLength = 2_000;
/** Longer schemas take up to half a second. */
const quickSchemaLength = 2_000;
const cheapOutputLength = 5_000;
/** Only a guess: the real time may be a hundredth of it, or a hundred times as long. */
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
  versions: ["2026-11-30", "2026-11-21"],
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
      // Compiled for the first sample, which may run in another thread. All errors are collected only if there cannot be many.
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
    throw new Error(shortened((error as Error).message, maxTextLength));
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
    path: shortened(instancePath, maxTextLength),
    message: shortened(message, maxTextLength),
  }));
  return {
    pass: false,
    score: 0,
    extra: { errors },
    explain: () => {
      const named = errors
        .slice(0, maxNamed)
        .map(({ path, message }) => `${path || "the document"} ${message}`);
      return `The output is not valid: ${andMore(named, found.length, "; ")}.`;
    },
  };
}
