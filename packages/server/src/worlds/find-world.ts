import { readWorldReference, type WorldConfig } from "@presage/contract";
import { LRUCache } from "lru-cache";
import { findRevision } from "../datasets/datasets.ts";
import { notFound, ServiceError, undefinedIfGone } from "../platform/errors.ts";
import { neverAborted, orAborted, withDeadline } from "../platform/limits/deadline.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import {
  type ExampleFilter,
  type ExampleSource,
  examplesGone,
  isAboutWorld,
  type ReadyWorld,
  type WorldRevision,
  withoutExamples,
} from "./world.ts";
import { selectWorld } from "./worlds-store.ts";

export function noSuchWorld(): ServiceError {
  return notFound("world");
}

/** A world of the account, in its latest revision unless another is named. */
export async function findWorld(
  { store }: { store: Pick<Store, "briefReader"> },
  requester: Requester,
  wanted: { name: string; revision?: number | undefined },
): Promise<WorldRevision> {
  const reader = store.briefReader(requester);
  const found = await selectWorld(reader, requester.accountId, wanted);
  if (found !== undefined) return found;
  const latest = await selectWorld(reader, requester.accountId, { name: wanted.name });
  if (latest === undefined) throw noSuchWorld();
  throw new ServiceError(
    "not_found",
    `The world ${wanted.name} has no revision ${wanted.revision}; the latest is ${latest.revision}.`,
  );
}

/** A world by its name, or NAME@NUMBER. */
export async function findByReference(
  services: { store: Pick<Store, "briefReader"> },
  requester: Requester,
  reference: string,
): Promise<WorldRevision> {
  const wanted = readWorldReference(reference);
  if (wanted === undefined) throw noSuchWorld();
  return await findWorld(services, requester, wanted);
}

export function filterOf({
  split,
  tags,
  exclude_errors,
  max_per_trajectory,
}: NonNullable<WorldConfig["examples"]>): ExampleFilter {
  const sorted = Object.entries(tags ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    split: split ?? undefined,
    leavesOutTest: !split,
    leavesOutErrors: exclude_errors ?? undefined,
    tags: sorted.length === 0 ? undefined : Object.fromEntries(sorted),
    maxPerTrajectory: max_per_trajectory ?? undefined,
  };
}

/** The source of a world's examples; `gone` if their dataset is. */
async function findSource(
  services: { store: Pick<Store, "briefReader"> },
  requester: Requester,
  { config: { examples }, pinned }: WorldRevision,
): Promise<ExampleSource | "gone" | undefined> {
  if (!examples || pinned.examples === null) return undefined;
  const { dataset_id: id, revision: number, index_digest: digest } = pinned.examples;
  const revision = await findRevision(services, requester, { id, number }).catch(undefinedIfGone);
  const { accountId } = requester;
  if (revision === undefined) return "gone";
  return { accountId, revisionId: revision.id, filter: filterOf(examples), digest };
}

export interface WantedWorld {
  name: string;
  /** The latest if undefined. */
  revision: number | undefined;
}

/** Worlds that requests name, at most a second old; while the database is unavailable, as they were before. */
export interface KnownWorlds {
  /** Undefined if there is no world of this name. Throws if the revision does not exist, or if its examples are gone. */
  find(requester: Requester, wanted: WantedWorld): Promise<ReadyWorld | undefined>;
  /** Forgets a world, so that a change in this process is seen immediately. */
  forget(accountId: string, name: string): void;
  forgetAll(): void;
  /** How many changes there were in this process. After a change, the same request may mean another world. */
  changes(): number;
}

/** The world that a field names, as NAME or NAME@NUMBER; or why it cannot be used. */
export async function findReferred(
  { knownWorlds }: { knownWorlds: Pick<KnownWorlds, "find"> },
  requester: Requester,
  reference: string,
): Promise<ReadyWorld | { reason: string }> {
  const wanted = readWorldReference(reference);
  try {
    const world = wanted && (await knownWorlds.find(requester, wanted));
    return world ?? { reason: `There is no world named ${wanted?.name ?? reference}` };
  } catch (error) {
    if (!isAboutWorld(error)) throw error;
    return { reason: error.message.replace(/\.$/, "") };
  }
}

/** Of their texts; of each at least `leastCharacters`, so that there are at most 32,000. */
const maxCharacters = 32_000_000;
const leastCharacters = 1_000;
const maxAgeMs = 1_000;
/** How long a known world is used while the database is unavailable. */
const graceMs = 15 * 60_000;
/** How long rereading a known world may take before the database counts as unavailable, and how long it then counts so. */
const patienceMs = 500;
const outageMs = 4_500;

type Known = ReadyWorld | "gone" | "none";

function lacksExamples(world: Known): boolean {
  return world === "gone" || (typeof world === "object" && !!world.config.examples && !world.source);
}

interface Entry {
  world: Known;
  /** When reading it began. */
  readAtMs: number;
  usableUntilMs: number;
}

/** `forgetRevisions` is called for revisions that another process has deleted. */
export function createKnownWorlds(
  store: Pick<Store, "briefReader">,
  forgetRevisions?: (ids: readonly number[]) => void,
): KnownWorlds {
  const known = new LRUCache<string, Entry>({
    maxSize: maxCharacters,
    sizeCalculation: ({ world }) => leastCharacters + JSON.stringify(world).length,
  });
  const loads = new Map<string, Promise<Known>>();
  let changes = 0;
  const keyOf = (accountId: string, name: string, revision: number | undefined) =>
    `${accountId}/${name}@${revision ?? ""}`;

  async function load(requester: Requester, wanted: WantedWorld): Promise<Known> {
    const reader = store.briefReader(requester);
    const isThere = await selectWorld(reader, requester.accountId, { name: wanted.name });
    if (isThere === undefined) return "none";
    const world = wanted.revision === undefined ? isThere : await findWorld({ store }, requester, wanted);
    const source = await findSource({ store }, requester, world);
    if (source !== "gone") return { ...world, source };
    if (world.config.examples?.required !== false) return "gone";
    return withoutExamples(world);
  }

  /** Loads a world, once at a time for each key. */
  function loadOnce(key: string, requester: Requester, wanted: WantedWorld): Promise<Known> {
    const current = loads.get(key);
    if (current !== undefined) return current;
    const readAtMs = performance.now();
    // A caller who leaves must not abort a load that others share.
    const loading = load({ ...requester, signal: neverAborted }, wanted).then((world) => {
      const before = known.get(key)?.world;
      const source = typeof before === "object" ? before.source : undefined;
      if (source !== undefined && lacksExamples(world)) forgetRevisions?.([source.revisionId]);
      // The result is not kept if the world was changed meanwhile.
      if (loads.get(key) === loading) known.set(key, { world, readAtMs, usableUntilMs: readAtMs + maxAgeMs });
      return world;
    });
    loads.set(key, loading);
    const end = () => {
      if (loads.get(key) === loading) loads.delete(key);
    };
    loading.then(end, end);
    return loading;
  }

  async function findKnown(requester: Requester, wanted: WantedWorld): Promise<Known> {
    const key = keyOf(requester.accountId, wanted.name, wanted.revision);
    const last = known.get(key);
    const nowMs = performance.now();
    if (last !== undefined && nowMs < last.usableUntilMs) return last.world;
    const loading = loadOnce(key, requester, wanted);
    if (last === undefined || nowMs - last.readAtMs > graceMs) return await loading;
    const timeoutError = () => new Error(`The database did not respond within ${patienceMs} ms`);
    const limits = { timeoutMs: patienceMs, timeoutError };
    try {
      return await withDeadline(limits, (signal) => orAborted(loading, signal));
    } catch (error) {
      if (isAboutWorld(error)) throw error;
      last.usableUntilMs = performance.now() + outageMs;
      return last.world;
    }
  }

  return {
    async find(requester, wanted) {
      const found = await findKnown(requester, wanted);
      if (found === "gone") throw examplesGone(` ${wanted.name}`);
      return found === "none" ? undefined : found;
    },
    forget(accountId, name) {
      changes += 1;
      for (const entries of [known, loads])
        for (const key of entries.keys()) if (key.startsWith(`${accountId}/${name}@`)) entries.delete(key);
    },
    forgetAll() {
      known.clear();
      loads.clear();
    },
    changes: () => changes,
  };
}
