import { notJson } from "../json/not-json.ts";
import { isContainer, readExactJson } from "../json/read-json.ts";
import { countItems, type Multiset } from "../text/multiset.ts";
import { plainOutput, plainRange } from "../text/plain-output.ts";
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
  /** Says why the output cannot be compared with a gold answer that is JSON. */
  outputIssue?: (() => string) | undefined;
}

const stateMark = /(?:^|\n)State: /;
const actionMark = "\n\nAction: ";
const nothing: Multiset = new Map();

/** Splits states into fields if the gold answer is a JSON object or list, else into lines. */
export function readStates({ before, gold, output }: StateTexts): ReadStates {
  const goldFields = readFields(gold).fields;
  if (goldFields === undefined) {
    return { comparedAs: "lines", before: linesOf(before), gold: linesOf(gold), output: linesOf(output) };
  }
  const { fields: outputFields, issue } = readFields(output);
  return {
    comparedAs: "json",
    // The state before a first call may be prose: then every field is new.
    before: readFields(before).fields ?? nothing,
    gold: goldFields,
    output: outputFields ?? nothing,
    outputIssue: issue,
  };
}

function readFields(text: string): { fields?: Multiset; issue?: () => string } {
  const range = plainRange(text);
  const { value, issue } = readExactJson(text.slice(...range));
  if (issue !== undefined) return { issue: () => notJson(text, issue, range).explain() };
  return isContainer(value)
    ? { fields: countItems(jsonFields(value)) }
    : { issue: () => "The output is neither a JSON object nor a list, and the gold answer is one." };
}

function linesOf(text: string): Multiset {
  return countItems(textLines(plainOutput(text)).map((line) => line.text));
}

/** The state before the action: the input itself, or the state in it if it is a composed prompt. */
export function stateOfInput(input: string): string {
  const mark = stateMark.exec(input);
  // A state may quote an earlier action; the prompt's own comes last.
  const end = input.lastIndexOf(actionMark);
  if (mark === null || end < 0) return input;
  const start = mark.index + mark[0].length;
  return start <= end ? input.slice(start, end) : input;
}
