import { isContainer } from "../json/is-container.ts";
import { readExactJson } from "../json/read-json.ts";
import { countItems, type Multiset } from "../text/multiset.ts";
import { plainOutput } from "../text/plain-output.ts";
import type { States } from "./compare-changes.ts";
import { jsonFields } from "./json-fields.ts";
import { textLines } from "./text-lines.ts";

export interface StateTexts {
  before: string;
  gold: string;
  output: string;
}

export interface ReadStates extends States {
  comparedAs: "json" | "lines";
  /** Why the output cannot be compared with a gold answer that is JSON. */
  outputFault?: string;
}

const nothing: Multiset = new Map();

/** Takes states apart: into fields if the gold answer is a JSON object or list, else into lines. */
export function readStates({ before, gold, output }: StateTexts): ReadStates {
  const goldFields = readFields(gold);
  if (!("fields" in goldFields)) {
    return {
      comparedAs: "lines",
      before: linesOf(before),
      gold: linesOf(gold),
      output: linesOf(output),
    };
  }
  // Before a first call there may be prose: then every field is new.
  const beforeFields = readFields(before);
  const outputFields = readFields(output);
  return {
    comparedAs: "json",
    before: "fields" in beforeFields ? beforeFields.fields : nothing,
    gold: goldFields.fields,
    ...("fields" in outputFields
      ? { output: outputFields.fields }
      : { output: nothing, outputFault: outputFields.fault }),
  };
}

function readFields(text: string): { fields: Multiset } | { fault: string } {
  const reading = readExactJson(plainOutput(text));
  if (reading.fault !== undefined) return { fault: reading.fault.reason };
  return isContainer(reading.value)
    ? { fields: countItems(jsonFields(reading.value)) }
    : { fault: "it is neither an object nor a list" };
}

function linesOf(text: string): Multiset {
  return countItems(textLines(plainOutput(text)).map((line) => line.text));
}
