import type { Ajv, AnySchemaObject, ErrorObject, Options } from "ajv";
import { ajvLibrary, patternLibrary } from "../../platform/lazy-libraries.ts";
import { EvaluationError } from "../evaluation-error.ts";
import { compilePattern, maxProgramSize } from "./compile-pattern.ts";
import { isDeeperThan } from "./read-json.ts";

/** A schema of this size compiles in 250 ms at worst. */
const maxSchemaLength = 32_000;
const maxSchemaDepth = 64;
/** References followed plus errors found: the two that can grow without bound. */
const maxSteps = 500_000;

export type JsonSchema = boolean | Record<string, unknown>;
export type ValidateJson = (value: unknown) => readonly ErrorObject[];

interface CompileOptions {
  allErrors: boolean;
  /** It was compiled before, so its form is not checked again; that takes longer than compiling a small schema. */
  isChecked?: boolean;
}

/** Compiles a schema of an untrusted author. Throws an `Error` that says why it cannot. */
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

/** Matches patterns in linear time, with a limit on all patterns of a schema together. */
function createLinearRegExp() {
  const { RE2JS } = patternLibrary();
  let programSize = 0;
  const linearRegExp = (pattern: string) => {
    const compiled = compilePattern(RE2JS.translateRegExp(pattern));
    programSize += compiled.programSize();
    if (programSize > maxProgramSize) throw new Error("the patterns of the schema are too large together");
    // Ajv tells patterns apart by their text.
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
