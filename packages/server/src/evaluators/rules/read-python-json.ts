import { type Json, readJson } from "./read-json.ts";

/** Python refuses to read longer integers. */
const maxIntegerDigits = 4_300;

// Python reads these constants where JSON has none. They count only outside strings, and not as part of a word or number.
const quoteOrConstant = /\\.|"|(?<![\w.+-])(?:-?Infinity|NaN)(?![\w.+-])/gs;
const infinity = "1e999";
/** Stands in for NaN while a text is read: a number that no text has. */
const notANumber = "-0.000e-0987654321";

/**
 * A text as Python's `json.loads` reads it, undefined where that refuses it: an integer is a `bigint`, any other number a `number`.
 */
export function readPythonJson(text: string): Json | undefined {
  const source = /NaN|Infinity/.test(text) ? replaceConstants(text) : text;
  // Checks the depth too, before the reviver goes down into it.
  const reading = readJson(source);
  if (reading.issue !== undefined) return undefined;
  if (!/\d/.test(source)) return reading.value;
  try {
    return JSON.parse(source, tellNumbersApart);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function replaceConstants(text: string): string {
  let isInString = false;
  return text.replace(quoteOrConstant, (found) => {
    if (found === '"') isInString = !isInString;
    if (isInString || found === '"' || found.startsWith("\\")) return found;
    return found === "NaN" ? notANumber : found.replace("Infinity", infinity);
  });
}

/** The runtime passes the source text to a reviver; TypeScript's types do not know that yet. */
function tellNumbersApart(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  const source = context?.source ?? "";
  if (source === notANumber) return Number.NaN;
  if (!/^-?\d+$/.test(source)) return value;
  if (source.length - (source.startsWith("-") ? 1 : 0) > maxIntegerDigits) {
    throw new RangeError("Python reads no integer of that length");
  }
  return BigInt(source);
}
