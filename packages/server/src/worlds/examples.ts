import type { WorldExplanation } from "@presage/contract";
import { LRUCache } from "lru-cache";
import { readSamplesAt } from "../datasets/samples.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import { type Fields, fieldsOf } from "./features.ts";
import { defaultWeights, type Wanted } from "./find-examples.ts";
import { createKnownWorlds, type KnownWorlds } from "./find-world.ts";
import { createIndexes, type Indexes, UnusableExamplesError } from "./indexes.ts";
import type { Asked, ReadyWorld, ShownExample } from "./world.ts";

/** Finds examples and reads them. */
export interface ExampleServices {
  indexes: Indexes;
  exampleTexts: ExampleTexts;
  /** Counts what worlds answer. */
  observe?: ((answered: ObservedAnswer) => void) | undefined;
}

export interface ObservedAnswer {
  isFromRecords: boolean;
  isAbstained: boolean;
  isEscalated: boolean;
  retrievalMs: number;
}

/** What is made once, for all that ask worlds. */
export interface WorldParts extends ExampleServices {
  knownWorlds: KnownWorlds;
  /** Samples of revisions that are deleted are examples no longer. */
  forgetRevisions(ids: readonly number[]): void;
}

/** In whose turn indexes are read: no account waits for another one's. */
const indexing = "indexes of examples";

export function createWorldParts(
  store: Store,
  maxIndexBytes: number,
  observe?: ExampleServices["observe"],
): WorldParts {
  const openReader = (signal: AbortSignal) => store.reader({ accountId: indexing, signal });
  const indexes = createIndexes({ maxBytes: maxIndexBytes, openReader });
  const exampleTexts = createExampleTexts();
  const knownWorlds = createKnownWorlds(store);
  return {
    ...{ indexes, exampleTexts, knownWorlds, observe },
    forgetRevisions(ids) {
      knownWorlds.forgetAll();
      indexes.forget(ids);
      const deleted = new Set(ids.map(String));
      for (const key of exampleTexts.keys())
        if (deleted.has(key.slice(0, key.indexOf("/")))) exampleTexts.delete(key);
    },
  };
}

/** Texts of examples that were shown lately, by revision and position. */
export type ExampleTexts = LRUCache<string, ShownExample>;

const maxTextCharacters = 32_000_000;

function createExampleTexts(): ExampleTexts {
  return new LRUCache({
    max: 100_000,
    maxSize: maxTextCharacters,
    sizeCalculation: ({ action, state, nextState }) => 100 + action.length + state.length + nextState.length,
  });
}

/** What a request is found by. */
export interface ChosenExamples {
  /** The most similar first. */
  examples: ShownExample[];
  query: Fields;
  explain: WorldExplanation;
}

/** The examples that a world shows for what it is asked. */
export async function chooseExamples(
  { indexes, exampleTexts }: ExampleServices,
  reader: Database,
  { source, config }: ReadyWorld,
  asked: Asked,
  signal?: AbortSignal,
): Promise<ChosenExamples> {
  const { query, wanted } = findWanted({ config }, asked);
  const nothing = { examples: [], left_out: { trajectory: 0, duplicate: 0, budget: 0, filter: 0 } };
  const unscored = { score: null, scores: {}, predictions: 0 };
  const explained = { ...nothing, ...unscored, truncated: false, reduced: false, retrieval_ms: 0 };
  if (source === undefined) return { examples: [], query, explain: explained };
  const found = await indexes.find(source, { ...wanted, query }, signal).catch(refuseUnusable);
  const positions = found.examples.map(({ position }) => position);
  const shown = await readExamples(exampleTexts, reader, source.revisionId, positions);
  // Of a dataset that is being deleted, some are gone.
  const chosen = found.examples.flatMap(({ position, ...one }) => {
    const example = shown.get(position);
    return example === undefined ? [] : [{ example, one }];
  });
  return {
    query,
    examples: chosen.map(({ example }) => example),
    explain: {
      examples: chosen.map(({ example: { sampleId, trajectoryId }, one }) => ({
        dataset_sample_id: sampleId,
        trajectory_id: trajectoryId,
        similarity: one.similarity,
        by: one.by,
        chars: one.chars,
      })),
      left_out: { ...found.leftOut, filter: found.filtered },
      truncated: found.isTruncated,
      reduced: false,
      ...unscored,
      retrieval_ms: found.ms,
    },
  };
}

/** What examples are found by, and which are wanted. */
export function findWanted(
  { config }: Pick<ReadyWorld, "config">,
  asked: Asked,
): { query: Fields; wanted: Wanted } {
  return { query: queryOf(config.context, asked), wanted: wantedOf(config.retrieval ?? {}, asked) };
}

/** Of a step, as it is asked; of a chat, as samples with messages are found. */
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
    k: k ?? 8,
    maxChars: max_chars ?? 12_000,
    weights: weights ?? defaultWeights,
    minSimilarity: min_similarity ?? 0,
    excluded: [...(exclude?.trajectoryIds ?? []), ...(recorded ? [recorded.trajectoryId] : [])],
    excludedTags: {
      ...exclude?.tags,
      ...(tag === undefined || value === undefined ? {} : { [tag]: value }),
    },
  };
}

/** Examples by position, as far as they are there. */
export async function readExamples(
  texts: ExampleTexts,
  reader: Database,
  revisionId: number,
  positions: readonly number[],
): Promise<Map<number, ShownExample>> {
  const keyOf = (position: number) => `${revisionId}/${position}`;
  const known = new Map<number, ShownExample>();
  for (const position of positions) {
    const example = texts.get(keyOf(position));
    if (example !== undefined) known.set(position, example);
  }
  const missing = positions.filter((position) => !known.has(position));
  if (missing.length === 0) return known;
  const sizes = missing.map((position) => ({ position, bytes: 0 }));
  for await (const piece of readSamplesAt(reader, revisionId, sizes)) {
    for (const { position, sample } of piece) {
      const { action, state } = fieldsOf(sample);
      const { dataset_sample_id: sampleId, trajectory_id: trajectoryId, next_state: nextState } = sample;
      const example = { position, sampleId, trajectoryId, action, state, nextState };
      known.set(position, example);
      texts.set(keyOf(position), example);
    }
  }
  return known;
}

/** They fitted when the world was made. */
function refuseUnusable(error: unknown): never {
  if (error instanceof UnusableExamplesError) throw new ServiceError("conflict", `${error.message}.`);
  throw error;
}
