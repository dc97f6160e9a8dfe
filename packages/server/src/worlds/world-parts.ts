import { LRUCache } from "lru-cache";
import { selectSealed } from "../datasets/datasets-store.ts";
import { readSamplesAt } from "../datasets/samples.ts";
import { defaultIndexBytes } from "../platform/limits/memory.ts";
import { startLooking } from "../platform/storage/leases.ts";
import { isInMemory } from "../platform/storage/sqlite/sqlite.ts";
import type { Store } from "../platform/storage/store.ts";
import type { ExampleServices, ExampleTexts } from "./choose-examples.ts";
import { createKnownWorlds, type KnownWorlds } from "./find-world.ts";
import { createIndexes } from "./indexes.ts";
import { type ShownExample, toShown } from "./world.ts";

/** Parts that are made once, for everything that asks worlds. */
export interface WorldParts extends ExampleServices {
  knownWorlds: KnownWorlds;
  /** Makes samples of deleted revisions stop being examples. */
  forgetRevisions(ids: readonly number[]): void;
}

interface WorldsConfig {
  databaseUrl: string;
  worlds: { maxIndexBytes: number | undefined };
  workers: { count: number };
  upstream: { timeoutMs: number };
}

/** How long another process may keep examples after their deletion, if nothing asks for them. */
const forgottenAfterMs = 60_000;

export function createWorldParts(
  store: Store,
  {
    databaseUrl,
    workers,
    worlds: { maxIndexBytes: maxBytes = defaultIndexBytes(workers) },
    upstream: { timeoutMs },
  }: WorldsConfig,
  observe?: ExampleServices["observe"],
  lookEveryMs = forgottenAfterMs,
): WorldParts {
  // Whose turn the reads of examples take: no account waits for another's.
  const reader = (signal: AbortSignal) => store.reader({ accountId: "indexes of examples", signal });
  const indexes = createIndexes({
    maxBytes,
    timeoutMs,
    databaseUrl: isInMemory(databaseUrl) ? undefined : databaseUrl,
    reader,
  });
  const exampleTexts = createExampleTexts();
  const forgetExamples = (ids: readonly number[]) => {
    indexes.forget(ids);
    exampleTexts.forget(ids);
  };
  const knownWorlds = createKnownWorlds(store, forgetExamples);
  const looker = startLooking({
    async look(signal) {
      const ids = indexes.revisionIds();
      if (ids.length === 0) return;
      const sealed = await selectSealed(reader(signal), ids);
      const gone = ids.filter((id) => !sealed.has(id));
      if (gone.length > 0) forgetExamples(gone);
    },
    intervalMs: lookEveryMs,
    firstAfterInterval: true,
    // An unavailable database is logged elsewhere.
    onFailure() {},
  });
  const stop = async () => {
    await looker.stop();
    await indexes.stop();
  };
  return {
    indexes: { ...indexes, stop },
    exampleTexts,
    knownWorlds,
    observe,
    forgetRevisions(ids) {
      knownWorlds.forgetAll();
      forgetExamples(ids);
    },
  };
}

const maxTextCharacters = 32_000_000;

function createExampleTexts(): ExampleTexts {
  // By revision and position.
  const texts = new LRUCache<string, ShownExample>({
    maxSize: maxTextCharacters,
    // 320 is what an entry takes besides its texts, so that there are at most 100,000.
    sizeCalculation: ({ action, question, nextState, answer }) =>
      320 + action.length + question.length + nextState.length + (answer === nextState ? 0 : answer.length),
  });
  return {
    async read(reader, revisionId, positions) {
      const keyOf = (position: number) => `${revisionId}/${position}`;
      const known = new Map<number, ShownExample>();
      for (const position of positions) {
        const example = texts.get(keyOf(position));
        if (example !== undefined) known.set(position, example);
      }
      const missing = positions.filter((position) => !known.has(position));
      if (missing.length === 0) return known;
      const sizes = missing.map((position) => ({ position, bytes: 0 }));
      for await (const piece of readSamplesAt(reader(), revisionId, sizes)) {
        for (const { position, sample } of piece) {
          const example = toShown(position, sample);
          known.set(position, example);
          texts.set(keyOf(position), example);
        }
      }
      return known;
    },
    forget(revisionIds) {
      const deleted = new Set(revisionIds.map(String));
      for (const key of texts.keys()) if (deleted.has(key.slice(0, key.indexOf("/")))) texts.delete(key);
    },
  };
}
