import type { Ajv, AnySchemaObject, ErrorObject, Options } from "ajv";
import { EvaluationError } from "../../evaluation-error.ts";
import { ajvLibrary, patternLibrary } from "../../lazy-libraries.ts";
import { compilePattern, maxProgramSize } from "../text/compile-pattern.ts";
import { isDeeperThan } from "./read-json.ts";

/** A schema of this size compiles in a quarter of a second at the worst. */
const maxSchemaLength = 32_000;
const maxSchemaDepth = 64;
/** Calls of references and errors found on the way, which is what grows without bound in time and memory. */
const maxSteps = 500_000;

export type JsonSchema = boolean | Record<string, unknown>;
export type ValidateJson = (value: unknown) => readonly ErrorObject[];

interface CompileOptions {
  allErrors: boolean;
  /** It has been compiled before: its form need not be checked again, which takes longer than a small schema itself. */
  isChecked?: boolean;
}

/** Compiles a schema of an untrusted author. Throws an `Error` that says why not. */
export function compileJsonSchema(schema: JsonSchema, options: CompileOptions): ValidateJson {
  checkBounds(schema);
  const ajv = createAjv(schema, options);
  const validate = ajv.compile(schema);
  if ("$async" in validate) throw new Error("$async schemas are not taken");
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
    // A keyword that is unknown, or misspelt, would otherwise be passed over in silence.
    strictSchema: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    // What an object inherits, `constructor` for example, is no property of the document.
    ownProperties: true,
    // Copies of what is referred to would make a small schema's code grow without bound.
    inlineRefs: false,
    passContext: true,
    code: { optimize: false, regExp: createLinearRegExp(), process: countSteps },
    logger: false,
  } satisfies Options);
  addFormats(ajv);
  return ajv;
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

/** Patterns of a schema are matched in linear time, and all of them together have a bound. */
function createLinearRegExp() {
  const { RE2JS } = patternLibrary();
  let programSize = 0;
  const linearRegExp = (pattern: string) => {
    const compiled = compilePattern(RE2JS.translateRegExp(pattern));
    programSize += compiled.programSize();
    if (programSize > maxProgramSize) throw new Error("the patterns of the schema are too large together");
    // Ajv tells patterns apart by what they are written as.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  };
  // Ajv asks for it to write modules, which is not done here.
  return Object.assign(linearRegExp, { code: "linearRegExp" });
}

/**
 * Ajv bounds neither how often a schema refers to itself nor how many errors it gathers on the way,
 * so a schema of a few lines could fill the memory within seconds. A schema's own check has nobody who counts.
 */
function countSteps(code: string): string {
  return code
    .replace("let vErrors = null;", "this?.step?.();let vErrors = null;")
    .replaceAll("errors++;", "errors++;this?.step?.();");
}
