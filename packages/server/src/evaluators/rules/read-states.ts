import type { DatasetChange } from "@presage/contract";
import type { States } from "./compare-changes.ts";
import { jsonFields } from "./json-fields.ts";
import { countGameChanges } from "./llm-sim.ts";
import { countItems, type Multiset } from "./multiset.ts";
import { notJson } from "./not-json.ts";
import { plainOutput, plainRange } from "./plain-output.ts";
import { isContainer, type Json, readExactJson } from "./read-json.ts";
import { textLines } from "./text-lines.ts";
import { whatCounts } from "./what-counts.ts";

export interface StateTexts {
  before: string;
  gold: string;
  output: string;
}

export interface ReadStates extends States {
  comparedAs: "json" | "lines";
  /** Says why the output cannot be compared with a gold answer that is JSON. */
  outputIssue?: (() => string) | undefined;
  /** The number of changes from the state before to the gold answer, as LLM-Sim counts them, if these are states of its games. */
  gameChanges?: number | undefined;
}

const stateMark = /(?:^|\n)State: /;
const actionMark = "\n\nAction: ";
const nothing: Multiset = new Map();

/** Returns a function that splits states into fields if the gold answer is a JSON object or list, else into lines. */
export function createStateReader(change?: DatasetChange): (texts: StateTexts) => ReadStates {
  // A run has the same states compared with a prediction, and with no change.
  const fieldsOf = remembering((text) => readFields(text, change));
  const linesOf = remembering(readLines);
  return ({ before, gold, output }) => {
    const ofGold = fieldsOf(gold);
    if (ofGold.fields === undefined) {
      return { comparedAs: "lines", before: linesOf(before), gold: linesOf(gold), output: linesOf(output) };
    }
    const ofBefore = fieldsOf(before);
    const { fields: outputFields, issue } = fieldsOf(output);
    return {
      comparedAs: "json",
      // The state before a first call may be prose: then every field is new.
      before: ofBefore.fields ?? nothing,
      gold: ofGold.fields,
      output: outputFields ?? nothing,
      outputIssue: issue,
      gameChanges: countGameChanges(ofBefore.document ?? null, ofGold.document ?? null),
    };
  };
}

const maxRemembered = 6;
/** What was read takes a hundred times the memory of its text. */
const maxRememberedCharacters = 10_000;

/** Remembers what the last few texts contain, unless they are long. Weakly, as hundreds of profiles may be in use. */
function remembering<Value>(read: (text: string) => Value): (text: string) => Value {
  let held = new WeakRef(new Map<string, Value>());
  return (text) => {
    if (text.length > maxRememberedCharacters) return read(text);
    let known = held.deref();
    if (known === undefined) {
      known = new Map();
      held = new WeakRef(known);
    }
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    for (const first of known.keys()) {
      if (known.size <= maxRemembered) break;
      known.delete(first);
    }
    return value;
  };
}

interface Fields {
  document?: Json;
  fields?: Multiset;
  issue?: () => string;
}

function readFields(text: string, change: DatasetChange | undefined): Fields {
  const range = plainRange(text);
  const { value, issue } = readExactJson(text.slice(...range));
  if (issue !== undefined) return { issue: () => notJson(text, issue, range).explain() };
  if (!isContainer(value))
    return { issue: () => "The output is neither a JSON object nor a list, and the gold answer is one." };
  const document = change === undefined ? value : (whatCounts(value, change) ?? {});
  return { document, fields: countItems(jsonFields(document)) };
}

function readLines(text: string): Multiset {
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
