import {
  type EnvironmentConfig,
  type EpisodeStatus,
  episodeIdleMinutes,
  type RealityState,
} from "@presage/contract";
import { LRUCache } from "lru-cache";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { notFound, ServiceError } from "../../platform/errors.ts";
import { parseStored } from "../../platform/json.ts";
import { type DeletedBatch, doTogether, inTimedTransaction } from "../../platform/storage/batches.ts";
import { type Micros, microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import type { Keyset, KeysetPage, ListPart } from "../../platform/storage/lists.ts";
import type { EpisodesTable } from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { inTransaction, isPostgres, type Requester, type Store } from "../../platform/storage/store.ts";
import { sandboxEnvironment, type Task } from "../environment.ts";
import { findEnvironment } from "../find-environment.ts";
import type { NewStep } from "./episode-writes-store.ts";
import {
  countMatching,
  deleteEpisodeRows,
  type EpisodeFilter,
  type EpisodeProgress,
  type EpisodeRow,
  selectEpisode,
  selectEpisodes,
  selectOldEpisodes,
  selectProgressOfOne,
  selectProgressOfSome,
  selectSteps,
} from "./episodes-store.ts";
import { lookBackOf, promptFormOf, type Turn } from "./turns.ts";

/** The position of a task that does not belong to the environment. */
export const noPosition = -1;

/** An episode that nobody uses for this long has expired, and so has a session without a ping. */
export const idleMs = episodeIdleMinutes * 60_000;
export const hasExpired = `The episode has expired: nothing happened for ${episodeIdleMinutes} minutes.`;

export interface Episode {
  row: EpisodesTable;
  config: EnvironmentConfig;
  task: Task;
  /** The reality of its environment when it starts; undefined if there is no limit or if it was started before. */
  reality?: RealityState | undefined;
}

/** An episode of the account, with its environment's config at its start. */
export async function findEpisode(
  { store }: { store: Store },
  { accountId }: Requester,
  id: string,
): Promise<Episode> {
  // One row by its key, so it need not queue behind long reads.
  const found = await selectEpisode(store.database, accountId, id);
  if (found === undefined) throw notFound("episode");
  const { episode: row } = found;
  const config = row.environment_id === sandboxEnvironment.id ? sandboxEnvironment.config : found.config;
  if (config === undefined) throw new ServiceError("not_found", "The episode's environment was deleted.");
  return { row, config, task: parseStored(row.task) as Task };
}

/** The task's index in its split, if it is one of the environment's tasks. */
export function indexOf({ position }: Pick<EpisodesTable, "position">): number | undefined {
  return position === noPosition ? undefined : position;
}

export function statusOf({
  status,
  last_active_at,
}: Pick<EpisodesTable, "status" | "last_active_at">): EpisodeStatus {
  if (status === "finished") return "finished";
  return last_active_at < expiredBefore() ? "expired" : "open";
}

/** Open episodes that were last used before this time have expired. */
export function expiredBefore(): Micros {
  return nowMicros() - idleMs * microsPerMs;
}

export interface StateServices {
  store: Store;
  knownEpisodes: ReturnType<typeof createKnownEpisodes>;
  /** The current progress of an episode that this process remembers; undefined if it was deleted. */
  readProgress(known: EpisodeProgress): Promise<EpisodeProgress | undefined>;
}

/**
 * On PostgreSQL another process may have taken the last step, so the database is asked, for many episodes in one round trip. On SQLite
 * a second process exists only during a restart; if it took a step, the next step here cannot be stored, and is taken again.
 */
export function progressReader(database: Database): StateServices["readProgress"] {
  if (isPostgres(database)) {
    const read = doTogether((ids: readonly string[]) => selectProgressOfSome(database, ids));
    return ({ id }) => read(id);
  }
  return async (known) => {
    // A session's pings keep its episode open.
    return statusOf(known) === "open" ? known : await selectProgressOfOne(database, known.id);
  };
}

/** An episode of the account as it is stored, with the turns that its next step needs if it is open. */
export async function readState(
  services: StateServices,
  requester: Requester,
  id: string,
): Promise<EpisodeState> {
  const known = await findKnown(services, requester, id);
  if (known !== undefined) return known;
  const episode = await findEpisode(services, requester, id);
  if (statusOf(episode.row) !== "open") return { episode, turns: [] };
  const steps = episode.row.steps;
  const wanted = Math.min(steps, turnsFor(episode.config, steps));
  const rows = wanted === 0 ? [] : await selectSteps(services.store.database, id, steps - wanted);
  return { episode, turns: rows.map(({ action, observation }) => ({ action, observation })) };
}

/** What this process knows of an episode, unless `readProgress` reports a change by another process. */
async function findKnown(
  { readProgress, knownEpisodes }: StateServices,
  { accountId }: Requester,
  id: string,
): Promise<EpisodeState | undefined> {
  const known = knownEpisodes.find(id);
  if (known === undefined || known.episode.row.account_id !== accountId) return undefined;
  const { row } = known.episode;
  const progress = await readProgress(row);
  const isCurrent =
    progress?.status === "open" &&
    progress.steps === row.steps &&
    // A session's id can be used again once its episode is deleted.
    progress.created_at === row.created_at;
  if (!isCurrent) {
    knownEpisodes.forget(id);
    return undefined;
  }
  return progress === row ? known : { ...known, episode: { ...known.episode, row: { ...row, ...progress } } };
}

/** Forgets a state that was assumed current without asking the database. Returns whether this process remembered it. */
export function forgetRemembered({ knownEpisodes }: StateServices, state: EpisodeState): boolean {
  const { id } = state.episode.row;
  if (knownEpisodes.find(id) !== state) return false;
  knownEpisodes.forget(id);
  return true;
}

/** Remembers an episode after storing a step. */
export function keepState(
  { knownEpisodes }: StateServices,
  { episode, turns }: EpisodeState,
  { step, payload, end, at }: NewStep,
): void {
  const { row, config } = episode;
  if (end !== undefined) {
    knownEpisodes.forget(row.id);
    return;
  }
  const next: Turn[] = [...turns, { action: step.action, observation: payload.output ?? "" }];
  knownEpisodes.keep({
    episode: { ...episode, row: { ...row, steps: step.step, last_active_at: at } },
    turns: next.slice(-turnsFor(config, step.step)),
  });
}

/** The most steps that a world can be told. */
const mostHistory = 64;

/** How many turns the prompt and the rules of the next step look at. */
function turnsFor(config: EnvironmentConfig, steps: number): number {
  if (promptFormOf(config) === "chat") return steps;
  return config.world ? Math.max(mostHistory, lookBackOf(config)) : lookBackOf(config);
}

/** An episode as it is stored, with the turns that its next step needs. */
export interface EpisodeState {
  episode: Episode;
  turns: readonly Turn[];
}

const maxCharacters = 16_000_000;
/** The characters counted for an episode without texts. */
const charactersEach = 1_000;

/** The episodes whose last steps this process took. Other processes may have taken further steps meanwhile. */
export function createKnownEpisodes() {
  const states = new LRUCache<string, EpisodeState>({
    maxSize: maxCharacters,
    sizeCalculation: ({ episode, turns }) =>
      turns.reduce(
        (sum, { action, observation }) => sum + action.length + observation.length,
        charactersEach + 2 * episode.row.task.length + lengthOf(episode.config),
      ),
  });
  /** Each episode has its own copy. */
  const lengths = new WeakMap<object, number>();
  function lengthOf(config: Episode["config"]): number {
    const length = lengths.get(config) ?? JSON.stringify(config).length;
    lengths.set(config, length);
    return length;
  }

  return {
    find: (id: string): EpisodeState | undefined => states.get(id),
    keep: (state: EpisodeState): void => {
      states.set(state.episode.row.id, state);
    },
    forget: (id: string): void => {
      states.delete(id);
    },
  };
}

/** Filters episodes, with the environment given by name. */
export interface WantedEpisodes extends Omit<EpisodeFilter, "environment_id" | "expiredBefore"> {
  environment?: string;
}

/** One page of an account's episodes, newest first. */
export async function listEpisodes(
  services: { store: Store },
  requester: Requester,
  wanted: WantedEpisodes,
  page: KeysetPage,
): Promise<ListPart<EpisodeRow>> {
  const filter = await toFilter(services, requester, wanted);
  return await selectEpisodes(services.store.briefReader(requester), requester.accountId, filter, page);
}

/** The number of an account's episodes that an export contains. */
export async function countEpisodes(
  services: { store: Store },
  requester: Requester,
  wanted: WantedEpisodes,
): Promise<number> {
  const filter = await toExportFilter(services, requester, wanted);
  return await countMatching(services.store.briefReader(requester), requester.accountId, filter);
}

/** Throws if there is no environment of this name. */
async function toFilter(
  services: { store: Store },
  requester: Requester,
  { environment, ...filter }: WantedEpisodes,
): Promise<EpisodeFilter> {
  const found =
    environment === undefined ? undefined : await findEnvironment(services, requester, environment);
  return { ...filter, ...(found && { environment_id: found.id }), expiredBefore: expiredBefore() };
}

/** Episodes that checks played from recordings are exported only if their ids are given. */
export async function toExportFilter(
  services: { store: Store },
  requester: Requester,
  wanted: WantedEpisodes,
): Promise<EpisodeFilter> {
  return { ...(await toFilter(services, requester, wanted)), ofAgents: wanted.ids === undefined };
}

/** Deletes an episode with its steps. */
export async function deleteEpisode(
  services: { store: Store; knownEpisodes: { forget(id: string): void } },
  requester: Changer,
  id: string,
): Promise<void> {
  if ((await selectEpisode(services.store.database, requester.accountId, id)) === undefined)
    throw notFound("episode");
  await inTransaction(services.store, requester, async (transaction) => {
    // Another request may have deleted it meanwhile.
    if ((await deleteEpisodeRows(transaction, [id])) === 0) throw notFound("episode");
    await recordChange(transaction, requester, "episode.delete", id);
  });
  services.knownEpisodes.forget(id);
}

const start: Keyset = { createdAt: Number.MIN_SAFE_INTEGER, id: "" };
/** Looking at episodes that are kept takes microseconds each. */
const candidatesAtOnce = 200;

/**
 * Deletes some episodes of an account that were last used before a time, except those that a dataset contains. Open ones have expired
 * by then. `limit` is in steps, because episodes differ in length.
 */
export async function deleteOldEpisodes(
  database: Database,
  { accountId, before }: { accountId: string; before: Micros },
  place: Keyset | undefined,
  limit: number,
): Promise<DeletedBatch<Keyset>> {
  const unused = Math.min(before, expiredBefore());
  const candidates = await selectOldEpisodes(database, accountId, unused, place ?? start, candidatesAtOnce);
  let steps = 0;
  const wanted: Keyset[] = [];
  for (const episode of candidates) {
    if (episode.isInDataset) continue;
    steps += episode.steps + 1;
    if (wanted.length > 0 && steps > limit) break;
    wanted.push(episode);
  }
  const deletable = candidates.filter((episode) => !episode.isInDataset);
  const isCut = wanted.length < deletable.length;
  const last = isCut ? wanted.at(-1) : candidates.at(-1);
  const next = isCut || candidates.length === candidatesAtOnce ? last : undefined;
  if (wanted.length === 0) return { deleted: 0, heldMs: 0, next };
  const { heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteEpisodeRows(
      transaction,
      wanted.map(({ id }) => id),
    ),
  );
  return { deleted: wanted.length, size: Math.min(steps, limit), heldMs, next };
}
