import { DatasetChange } from "@presage/contract";
import { z } from "zod";
import { countOf } from "../../platform/words.ts";
import { defineFamily } from "../family.ts";
import { type Position, UnusableSampleError } from "../outcome.ts";
import { isContainer, type Json, notJson, readExactJson } from "./json.ts";
import { countGameChanges } from "./llm-sim.ts";
import {
  codePointPositions,
  countItems,
  endSentence,
  listItems,
  type Multiset,
  overlapOf,
  plainOutput,
  plainRange,
  sizeOf,
  subtract,
} from "./text.ts";
import { f1Score } from "./token-f1.ts";

/** The lines of a state, or its fields with their values: before an action, after it, and according to the output. */
export interface States {
  before: Multiset;
  gold: Multiset;
  output: Multiset;
}

export interface ChangeComparison {
  /** F1 of the changes. */
  score: number;
  /** Number of changes; a line or field that replaces another is one. */
  changed: number;
  right: number;
  missed: number;
  wrong: number;
  /** Added, but not in the output. */
  missing: Multiset;
  /** Removed, but still in the output. */
  stale: Multiset;
  /** In the output, but neither in the state before nor in the gold answer. */
  invented: Multiset;
  /** Unchanged, but not in the output. */
  dropped: Multiset;
}

/**
 * Compares the change from the state before to the gold answer with the change from the same state to the output.
 *
 * Where lines were added, removed ones earn nothing: otherwise any new text would be half right wherever one observation
 * replaces another. A wrong line in place of an added one, or an old line kept in its place, is one mistake.
 */
export function compareChanges({ before, gold, output }: States): ChangeComparison {
  const came = subtract(gold, before);
  const went = subtract(before, gold);
  const cameInOutput = subtract(output, before);
  const wentInOutput = subtract(before, output);
  const missing = subtract(came, cameInOutput);
  const stale = subtract(went, wentInOutput);
  const invented = subtract(cameInOutput, came);
  const dropped = subtract(wentInOutput, went);
  const right = came.size > 0 ? overlapOf(came, cameInOutput) : overlapOf(went, wentInOutput);
  const missed = Math.max(sizeOf(missing), sizeOf(stale));
  const wrong = Math.max(sizeOf(invented), sizeOf(dropped));
  const isUnchangedTwice = right + missed + wrong === 0;
  return {
    score: isUnchangedTwice ? 1 : f1Score(right, right + wrong, right + missed).f1,
    changed: Math.max(sizeOf(came), sizeOf(went)),
    right,
    missed,
    wrong,
    missing,
    stale,
    invented,
    dropped,
  };
}

/** How similar two states are as a whole: the F1 of all their lines or fields. */
export function stateOverlap(one: Multiset, other: Multiset): number {
  if (one.size === 0 && other.size === 0) return 1;
  return f1Score(overlapOf(one, other), sizeOf(one), sizeOf(other)).f1;
}

/** The pointers of a deep document are many times as long as the document. */
const maxPointerCharacters = 20_000_000;

/**
 * The leaves of a document, each as `pointer = value`: scalars, and empty objects and lists. The
 * pointers are whole, since they tell fields apart. The document is no deeper than `readJson` lets it be.
 */
export function jsonFields(document: Json): string[] {
  const fields: string[] = [];
  let pointerCharacters = 0;

  function visit(pointer: string, value: Json): void {
    const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
    if (entries.length === 0) {
      pointerCharacters += pointer.length;
      if (pointerCharacters > maxPointerCharacters) {
        throw new UnusableSampleError("The JSON is too deep and too long to be compared field by field.");
      }
      fields.push(`${pointer} = ${typeof value === "bigint" ? value : JSON.stringify(value)}`);
    }
    for (const [key, child] of entries) {
      visit(`${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, child);
    }
  }

  visit("", document);
  return fields;
}

export interface TextLine {
  text: string;
  /** Offsets in UTF-16 units of the whole text. */
  start: number;
  end: number;
}

/** The lines of a text that are not blank, without white space at their ends. */
function* textLines(text: string): Generator<TextLine, void> {
  // Lazily, because all lines together take a hundred times the memory of the text.
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    const said = line.trimEnd();
    if (said !== "") yield { text: said, start: index, end: index + said.length };
  }
}

const segment = /\.([^.[\]]+)|\[(?:'([^']*)'|(\d+|\*))\]/g;

/** What is left of a document if only some paths count, or all but some; undefined if nothing is left. */
export function whatCounts(document: Json, { paths, ignore }: DatasetChange): Json | undefined {
  const isChosen = Boolean(paths);

  /** `open` contains what remains of the paths that lead here. */
  function visit(value: Json, open: readonly string[][]): Json | undefined {
    if (open.some(({ length }) => length === 0)) return isChosen ? value : undefined;
    if (open.length === 0 || !isContainer(value)) return isChosen ? undefined : value;
    const kept = Object.entries(value).flatMap(([key, child]): [string, Json][] => {
      const further = open.filter(([next]) => next === key || next === "*").map((path) => path.slice(1));
      const left = visit(child, further);
      return left === undefined ? [] : [[key, left]];
    });
    if (isChosen && kept.length === 0) return undefined;
    return Array.isArray(value) ? kept.map(([, child]) => child) : Object.fromEntries(kept);
  }

  return visit(document, (paths ?? ignore ?? []).map(segmentsOf));
}

function segmentsOf(path: string): string[] {
  return Array.from(path.matchAll(segment), ([, name, quoted, index]) => name ?? quoted ?? index ?? "");
}

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

/** Returns a function that splits states into fields if the gold answer is a JSON object or list, otherwise into lines. */
function createStateReader(change?: DatasetChange): (texts: StateTexts) => ReadStates {
  // A run compares the same states both with a prediction and with no change.
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
/** Parsed states take a hundred times the memory of their texts. */
const maxRememberedCharacters = 10_000;

/** Remembers what the last few texts contain, unless they are long. The memory is weak, as hundreds of profiles may be in use. */
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

const config = z.strictObject({
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ description: "The lowest F1 of changes that passes." }),
  change: DatasetChange.nullish().meta({ description: "Which parts of JSON states count, if not all." }),
});

/** Each line, or each field with its whole path, becomes its own string: about 400 MB of strings at this length. */
const maxCharacters = 2_500_000;

/** Texts of this length together take about a millisecond. */
const cheapCharacters = 10_000;
const maxPositions = 1_000;

const listFormat = new Intl.ListFormat("en-GB");

/**
 * How much of the actual change from the state in the input to the gold answer the output got right.
 *
 * States are compared line by line, or field by field where the gold answer is a JSON object or list; reasoning and
 * `<tool_response>` tags are removed first. Besides counts, `extra` has `overlap`, the similarity of the whole output and the
 * gold answer, and `unchanged_baseline`, the overlap that a copy of the input would have. An output whose overlap is not above
 * the baseline is no better than "nothing changed".
 */
export const stateChange = defineFamily({
  kind: "rule",
  name: "state-change",
  description: "The output changes the state of the input as the gold answer does.",
  versions: ["2026-11-30", "2026-11-21"],
  needs: ["input", "output", "goldAnswer"],
  config,
  threshold: ({ threshold }) => threshold,
  maxCharacters,
  builtInProfiles: [
    {
      name: "system:default",
      description: "Every change is right, and nothing else changed.",
      config: { threshold: 1 },
    },
  ],
  estimateMs: ({ input = "", output = "", goldAnswer = "" }) =>
    (input.length + output.length + goldAnswer.length) / cheapCharacters,
  prepare({ threshold, change }) {
    const readStates = createStateReader(change ?? undefined);
    return ({ input = "", output = "", goldAnswer = "" }) => {
      const states = readStates({ before: stateOfInput(input), gold: goldAnswer, output });
      const changes = compareChanges(states);
      const score = states.outputIssue === undefined ? changes.score : 0;
      const positions =
        states.comparedAs === "lines" ? placesOf(changes.invented, states.output, output) : [];
      return {
        pass: score >= threshold,
        score,
        positions: positions.length === 0 ? undefined : positions,
        extra: {
          compared_as: states.comparedAs,
          changed: changes.changed,
          ...(states.gameChanges !== undefined && { llm_sim_changes: states.gameChanges }),
          right: changes.right,
          missed: changes.missed,
          wrong: changes.wrong,
          overlap: stateOverlap(states.output, states.gold),
          unchanged_baseline: stateOverlap(states.before, states.gold),
        },
        explain: () => describe(states, changes),
      };
    };
  },
});

/** The positions of the first of some lines in the output; among equal lines, of the last. */
function placesOf(wanted: Multiset, lines: Multiset, output: string): Position[] {
  if (wanted.size === 0) return [];
  const [start, end] = plainRange(output);
  const unwanted = new Map(subtract(lines, wanted));
  const ranges = textLines(output.slice(start, end))
    .filter(({ text }) => {
      const left = unwanted.get(text) ?? 0;
      unwanted.set(text, left - 1);
      return left <= 0;
    })
    .take(maxPositions)
    .map((line): Position => [start + line.start, start + line.end]);
  return codePointPositions(output, [...ranges]);
}

function describe(
  { comparedAs, outputIssue }: ReadStates,
  { changed, right, missed, wrong, missing, stale, invented, dropped }: ChangeComparison,
): string {
  if (outputIssue !== undefined) return outputIssue();
  const changes = countOf(changed, comparedAs === "json" ? "field" : "line");
  if (changed + wrong === 0) return "Nothing changed, and the output says so.";
  if (missed + wrong === 0) {
    return `${changes} changed, and the output has ${changed === 1 ? "it" : "them"} right.`;
  }
  const found = [
    `gets ${right} right`,
    ...(missed > 0 ? [`misses ${missed}`] : []),
    ...(wrong > 0 ? [`gets ${wrong} wrong`] : []),
  ];
  const all = [missing, stale, invented, dropped];
  return [
    changed === 0
      ? "Nothing changed, but the output differs from the state before."
      : `${changes} changed; the output ${listFormat.format(found)}.`,
    ...(missing.size > 0 ? [endSentence(`Missing: ${listItems(missing, all)}`)] : []),
    ...(stale.size > 0 ? [endSentence(`Still there: ${listItems(stale, all)}`)] : []),
    ...(invented.size > 0 ? [endSentence(`Invented: ${listItems(invented, all)}`)] : []),
    ...(dropped.size > 0 ? [endSentence(`Lost, although unchanged: ${listItems(dropped, all)}`)] : []),
  ].join(" ");
}
