import type { AnsweringWorld, WorldConfig, WorldExplanation } from "@presage/contract";
import { worldDefaults } from "@presage/contract/defaults";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { Wanted } from "./find-examples.ts";
import type { Indexes } from "./indexes.ts";
import { type Asked, type Fields, fieldsOf, isRecords, type ReadyWorld, type ShownExample } from "./world.ts";

/** Finds examples and reads them. */
export interface ExampleServices {
  indexes: Indexes;
  exampleTexts: ExampleTexts;
  /** Counts the answers of worlds. */
  observe?: ((answered: ObservedAnswer) => void) | undefined;
}

export interface ObservedAnswer {
  world: AnsweringWorld;
  abstained?: boolean | undefined;
  isEscalated?: boolean;
  explain: Pick<WorldExplanation, "retrieval_ms">;
}

/** Texts of examples. Those that were shown recently are in memory. */
export interface ExampleTexts {
  /** The texts by position, as far as they exist. `reader` is called if some have to be read. */
  read(
    reader: () => Database,
    revisionId: number,
    positions: readonly number[],
  ): Promise<Map<number, ShownExample>>;
  /** Forgets the texts of revisions that are deleted. */
  forget(revisionIds: readonly number[]): void;
}

/** The most examples that a world shows. */
const mostExamples = 64;

/** A reader for examples during a prediction, so that they do not wait behind long reads. */
export function briefReaderOf(store: Pick<Store, "briefReader">, requester: Requester): () => Database {
  return () => store.briefReader({ ...requester, rows: mostExamples });
}

/** The examples for a request, and what they were found by. */
export interface ChosenExamples {
  /** The most similar first. */
  examples: ShownExample[];
  query: Fields;
  explain: WorldExplanation;
}

/** Chooses the examples that a world shows for a request. */
export async function chooseExamples(
  { indexes, exampleTexts }: ExampleServices,
  reader: () => Database,
  { source, config }: ReadyWorld,
  asked: Asked,
  signal?: AbortSignal,
): Promise<ChosenExamples> {
  const { query, wanted } = findWanted({ config }, asked);
  const found = source ? await indexes.find(source, { ...wanted, query }, signal) : nothing;
  const positions = found.examples.map(({ position }) => position);
  const shown = source ? await exampleTexts.read(reader, source.revisionId, positions) : new Map();
  // If the dataset is being deleted, some are gone.
  const chosen = found.examples.flatMap(({ position, ...one }) => {
    const example: ShownExample | undefined = shown.get(position);
    return example === undefined ? [] : [{ example, one }];
  });
  return {
    query,
    examples: chosen.map(({ example }) => example),
    explain: {
      examples: chosen.map(({ example: { sampleId, trajectoryId }, one }) => ({
        dataset_sample_id: sampleId,
        trajectory_id: trajectoryId,
        ...one,
      })),
      left_out: { ...found.leftOut, filter: found.filtered },
      truncated: found.isTruncated,
      reduced: false,
      score: null,
      scores: {},
      predictions: 0,
      prompt_tokens_of_examples: null,
      cost_of_examples: null,
      retrieval_ms: found.ms,
    },
  };
}

/** The search result for a world without examples. */
const nothing: Awaited<ReturnType<Indexes["find"]>> = {
  examples: [],
  leftOut: { trajectory: 0, duplicate: 0, budget: 0 },
  isTruncated: false,
  filtered: 0,
  ms: 0,
};

/** What examples are found by, and which are wanted. */
export function findWanted(
  { config }: Pick<ReadyWorld, "config">,
  asked: Asked,
): { query: Fields; wanted: Wanted } {
  return { query: queryOf(config.context, asked), wanted: wantedOf(config.retrieval ?? {}, asked) };
}

/** The query for a request: a step's own fields, or, for a chat, the fields by which samples with messages are found. */
function queryOf(context: ReadyWorld["config"]["context"], asked: Asked): Fields {
  const task = asked.context?.task_context ?? context?.task_context ?? "";
  if (asked.conversation !== undefined) return { action: "", state: asked.conversation.state, task };
  if (asked.interaction !== undefined)
    return { action: asked.interaction.action, state: asked.interaction.state, task };
  const messages = (asked.messages ?? []).map(({ role, content }) => ({ role, content: content ?? "" }));
  return fieldsOf({ messages });
}

function wantedOf(
  { k, max_chars, weights, exclude_by, min_similarity }: NonNullable<ReadyWorld["config"]["retrieval"]>,
  { exclude, recorded }: Asked,
): Wanted {
  const tag = exclude_by?.startsWith("tag:") ? exclude_by.slice("tag:".length) : undefined;
  const value = tag === undefined ? undefined : recorded?.tags[tag];
  return {
    k: k ?? worldDefaults.k,
    maxChars: max_chars ?? worldDefaults.max_chars,
    weights: weights ?? undefined,
    minSimilarity: min_similarity ?? worldDefaults.min_similarity,
    excluded: [...(exclude?.trajectoryIds ?? []), ...(recorded ? [recorded.trajectoryId] : [])],
    excludedTags: {
      ...exclude?.tags,
      ...(tag === undefined || value === undefined ? {} : { [tag]: value }),
    },
  };
}

/** The answer of the records alone, from one example. */
export function answerFrom({ model }: WorldConfig, action: string, example: Recorded): string {
  const isNearest = isRecords(model) && model.answer === "nearest";
  return isNearest ? example.nextState : adaptAnswer(action, example);
}

/** An action and what followed it. */
interface Recorded {
  action: string;
  nextState: string;
}

/**
 * A recorded next state with the words in which the actions differ carried over. Actions whose first words differ, and those with
 * arguments in braces, are too different for that.
 */
export function adaptAnswer(action: string, recorded: Recorded): string {
  const { nextState } = recorded;
  if (action.includes("{") || recorded.action.includes("{")) return nextState;
  const [wanted, known] = [wordsOf(action), wordsOf(recorded.action)];
  if (wanted[0] !== known[0]) return nextState;
  const swaps = differences(wanted, known);
  return swaps.size === 0 ? nextState : replaceWhole(nextState, swaps);
}

function wordsOf(action: string): string[] {
  return action.split(/\s+/).filter((word) => word !== "");
}

/** The query's words for each run of the example's words that differs. Where either has none, there is nothing to carry over. */
function differences(wanted: readonly string[], known: readonly string[]): Map<string, string> {
  const swaps = new Map<string, string>();
  const swap = (from: number, end: number, wantedEnd: number) => {
    const run = known.slice(from, end).join(" ");
    if (run !== "" && wantedEnd > from && !swaps.has(run))
      swaps.set(run, wanted.slice(from, wantedEnd).join(" "));
  };
  if (wanted.length === known.length) {
    for (let from = 0, end = 0; from < known.length; from = end + 1) {
      for (end = from; end < known.length && wanted[end] !== known[end]; ) end += 1;
      swap(from, end, end);
    }
    return swaps;
  }
  const shorter = Math.min(wanted.length, known.length);
  let start = 0;
  while (start < shorter && wanted[start] === known[start]) start += 1;
  let back = 0;
  while (back < shorter - start && wanted.at(-1 - back) === known.at(-1 - back)) back += 1;
  swap(start, known.length - back, wanted.length - back);
  return swaps;
}

const word = /[A-Za-z0-9_]/;

/** Replaces texts where no letter, digit or underscore is next to them; where several match, the longest. */
function replaceWhole(text: string, swaps: ReadonlyMap<string, string>): string {
  const byHead = Map.groupBy(
    [...swaps.keys()].sort((a, b) => b.length - a.length),
    (from) => headOf(from),
  );
  let replaced = "";
  let end = 0;
  for (const { 0: head, index } of text.matchAll(/[A-Za-z0-9_]+|[^A-Za-z0-9_]/g)) {
    if (index < end || word.test(text[index - 1] ?? "")) continue;
    const from = byHead
      .get(head)
      ?.find((one) => text.startsWith(one, index) && !word.test(text[index + one.length] ?? ""));
    if (from === undefined) continue;
    replaced += text.slice(end, index) + swaps.get(from);
    end = index + from.length;
  }
  return replaced + text.slice(end);
}

/** A text's first word, or its first character if that is not part of a word. */
function headOf(text: string): string | undefined {
  return /^(?:[A-Za-z0-9_]+|[^A-Za-z0-9_])/.exec(text)?.[0];
}
