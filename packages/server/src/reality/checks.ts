import type { RealityCheckRequest, RealityPair } from "@presage/contract";
import { findRevision } from "../datasets/datasets.ts";
import { listTrajectories } from "../datasets/samples.ts";
import type { EnvironmentRevision } from "../environments/environment.ts";
import { findEnvironment } from "../environments/environments.ts";
import { selectEnvironment } from "../environments/environments-store.ts";
import { listEpisodes } from "../environments/episodes/episode.ts";
import { toWantedEpisodes } from "../environments/episodes/episode-lines.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { deleteInBatches } from "../platform/storage/batches.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import { doOnce, findReceipt, type Once } from "../platform/storage/once.ts";
import { deleteSharesOf } from "../platform/storage/rows.ts";
import type { RealityChecksTable, RealityEpisodesTable } from "../platform/storage/schema/reality.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { deleteCheckRows, insertCheck, insertEpisodes, selectCheck } from "./checks-store.ts";
import type { RealEnvironments } from "./real/real-environment.ts";
import { drawBySeed } from "./replays/draw.ts";
import type { Recordings } from "./replays/recordings.ts";
import {
  deleteSomeOfCheck,
  deleteWaiting,
  insertReplays,
  resumeRows,
  stopCheck,
} from "./replays/replays-store.ts";

/** A field of a check that cannot be used, and why. */
export class InvalidCheckError extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.name = "InvalidCheckError";
    this.path = path;
  }
}

export interface CheckServices {
  store: Store;
  realEnvironments: Pick<RealEnvironments, "find">;
  replays: { wake(): void };
}

function noSuchCheck(): ServiceError {
  return new ServiceError("not_found", "There is no such reality check.");
}

/** What a check begins with. */
interface Begun {
  check: Pick<RealityChecksTable, "name" | "source" | "real" | "recordings">;
  insert(transaction: Database, id: string): Promise<void>;
  /** How many episodes are known, or are to be replayed. */
  episodes: number;
}

/** Makes a check: of known pairs, or of what is then replayed. Throws an `InvalidCheckError` for what cannot be used. */
export async function createCheck(
  services: CheckServices,
  requester: Changer,
  { userId, ...wanted }: RealityCheckRequest & { userId: string },
  once?: Once,
): Promise<RealityChecksTable> {
  const { accountId } = requester;
  const recall = (receipt: { id?: unknown }) => findCheck(services, requester, String(receipt.id));
  const earlier = once && (await findReceipt(services.store.database, once));
  if (earlier !== undefined) return await recall(JSON.parse(earlier));
  const environment = await findSimulated(services, requester, wanted);
  const begun = await begin(services, requester, environment, wanted);
  const isKnown = begun.check.source === "pairs";
  return await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      const check: RealityChecksTable = {
        ...{ id: Bun.randomUUIDv7(), account_id: accountId, ...begun.check },
        ...{ environment: environment?.name ?? null, environment_id: environment?.id ?? null },
        environment_revision: environment?.revision ?? null,
        ...{ status: isKnown ? "completed" : "running", reason: null, drawn_until: null },
        false_success_limit:
          wanted.false_success_limit ?? environment?.config.real?.false_success_limit ?? null,
        ...{ episodes: isKnown ? begun.episodes : 0, created_by: userId, created_at: nowMicros() },
        ...{ run_id: null, whole_run_id: null },
      };
      await insertCheck(transaction, check);
      await begun.insert(transaction, check.id);
      await recordChange(transaction, requester, {
        action: "reality_check.create",
        objectId: check.id,
        detail: { name: check.name, episodes: begun.episodes },
      });
      return check;
    },
    toReceipt: ({ id }) => ({ id }),
    recall,
  }).finally(services.replays.wake);
}

async function findSimulated(
  services: CheckServices,
  requester: Requester,
  { environment: name, environment_revision: revision }: RealityCheckRequest,
): Promise<EnvironmentRevision | undefined> {
  if (!name) return undefined;
  return await findEnvironment(services, requester, name, revision ?? undefined).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    throw revision
      ? new InvalidCheckError(["environment_revision"], "The environment has no such revision")
      : new InvalidCheckError(["environment"], "There is no environment of this name");
  });
}

async function begin(
  services: CheckServices,
  requester: Requester,
  environment: EnvironmentRevision | undefined,
  wanted: RealityCheckRequest,
): Promise<Begun> {
  if (wanted.pairs) return beginWithPairs(wanted.pairs, wanted.name ?? "");
  if (environment === undefined) throw new Error("The schema asks for an environment");
  if (wanted.episodes) return await beginWithEpisodes(services, requester, environment, wanted);
  return await beginWithRecordings(services, requester, environment, wanted);
}

function beginWithPairs(pairs: readonly RealityPair[], name: string): Begun {
  refuseRepeated(pairs);
  return {
    check: { name, source: "pairs", real: null, recordings: null },
    insert: (transaction, id) =>
      insertEpisodes(
        transaction,
        pairs.map((pair, index) => toRow(id, index + 1, pair)),
      ),
    episodes: pairs.length,
  };
}

const defaultLimit = 1_000;
const pageLimit = 1_000;
/** How many ids beyond the limit are held in memory: there may be millions of episodes. */
const spareIds = 50_000;

/** Draws by a seed from ids that come a page at a time. */
function drawing({ seed, limit }: Pick<RealityCheckRequest, "seed" | "limit">) {
  const most = limit ?? defaultLimit;
  let ids: string[] = [];
  const drawn = () => drawBySeed(ids, seed ?? 0, most);
  return {
    add(page: readonly string[]): void {
      ids.push(...page);
      if (ids.length > most + spareIds) ids = drawn();
    },
    drawn,
  };
}

async function beginWithEpisodes(
  services: CheckServices,
  requester: Requester,
  { name, revision, config }: EnvironmentRevision,
  { episodes, limit, seed, name: given }: RealityCheckRequest,
): Promise<Begun> {
  const real = config.real?.name;
  if (real === undefined || services.realEnvironments.find(real) === undefined)
    throw new InvalidCheckError(["environment"], "It names no real environment that the operator declares");
  const filter = toWantedEpisodes({ ...episodes, environment: name, revision });
  const urn = drawing({ seed, limit });
  let after: Parameters<typeof listEpisodes>[3]["after"];
  do {
    const page = { limit: pageLimit, after };
    const { rows, next } = await listEpisodes(services, requester, { ...filter, status: "finished" }, page);
    urn.add(rows.map(({ id }) => id));
    after = next;
  } while (after !== undefined);
  const drawn = urn.drawn();
  if (drawn.length === 0)
    throw new InvalidCheckError(["episodes"], `No ended episode of revision ${revision} matches`);
  return {
    check: {
      name: given ?? `${name}, revision ${revision}, against ${real}`,
      ...{ source: "episodes", real, recordings: null },
    },
    insert: (transaction, id) =>
      insertReplays(
        transaction,
        id,
        drawn.map((episode_id) => ({ episode_id, trajectory_id: null })),
      ),
    episodes: drawn.length,
  };
}

async function beginWithRecordings(
  services: CheckServices,
  requester: Requester,
  environment: EnvironmentRevision,
  { dataset_id, revision: asked, success_reward, limit, seed, name }: RealityCheckRequest,
): Promise<Begun> {
  const wanted = { id: dataset_id ?? "", number: asked ?? undefined };
  const { number: revision } = await findRevision(services, requester, wanted).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    throw new InvalidCheckError(["dataset_id"], error.message);
  });
  const urn = drawing({ seed, limit });
  let after: Parameters<typeof listTrajectories>[3]["after"];
  do {
    const page = { contains: undefined, order: "trajectory_id" as const, limit: pageLimit, after };
    const found = await listTrajectories(services, requester, { ...wanted, number: revision }, page);
    for await (const trajectories of found.trajectories.read())
      urn.add(trajectories.map((one) => one.trajectory_id));
    after = found.next;
  } while (after !== undefined);
  const drawn = urn.drawn();
  const recordings: Recordings = {
    ...{ datasetId: wanted.id, revision, successReward: success_reward ?? 1 },
  };
  return {
    check: {
      name: name ?? `${environment.name}, revision ${environment.revision}, against recordings`,
      ...{ source: "recordings", real: null, recordings: JSON.stringify(recordings) },
    },
    insert: (transaction, id) =>
      insertReplays(
        transaction,
        id,
        drawn.map((trajectory_id) => ({ episode_id: null, trajectory_id })),
      ),
    episodes: drawn.length,
  };
}

function refuseRepeated(pairs: readonly RealityPair[]): void {
  const seen = new Map<string, number>();
  for (const [index, { task_id, episode_id, policy }] of pairs.entries()) {
    const key = JSON.stringify([task_id, episode_id ?? null, policy ?? null]);
    const before = seen.get(key);
    if (before !== undefined)
      throw new InvalidCheckError(
        ["pairs", index],
        `The same task, episode and policy are in pair ${before + 1}`,
      );
    seen.set(key, index);
  }
}

function toRow(
  check_id: string,
  position: number,
  { task_id, episode_id, policy, simulated, real, replayed }: RealityPair,
): RealityEpisodesTable {
  const flag = (value: boolean) => (value ? 1 : 0);
  return {
    ...{ check_id, position, task_id, episode_id: episode_id ?? null, policy: policy ?? null },
    ...{ simulated: flag(simulated), real: flag(real) },
    replayed: typeof replayed === "boolean" ? flag(replayed) : null,
    ...{
      simulated_reward: null,
      real_reward: null,
      steps: null,
      diverged_at: null,
      verbs: null,
      checked_at: nowMicros(),
    },
  };
}

export async function findCheck(
  { store }: { store: Store },
  requester: Requester,
  id: string,
): Promise<RealityChecksTable> {
  const found = await selectCheck(store.briefReader(requester), requester.accountId, id);
  if (found === undefined) throw noSuchCheck();
  return found;
}

/** Ends a check before its time. What was replayed stays. */
export async function cancelCheck(
  services: CheckServices,
  requester: Changer,
  id: string,
): Promise<RealityChecksTable> {
  const { name } = await findCheck(services, requester, id);
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      if (!(await stopCheck(transaction, id, { status: "cancelled", reason: null })))
        throw new ServiceError("conflict", "The reality check has ended.");
      await deleteWaiting(transaction, id);
      await recordChange(transaction, requester, {
        ...{ action: "reality_check.cancel", objectId: id, detail: { name } },
      });
    });
  return await findCheck(services, requester, id);
}

/** Goes on with a paused check. What could not be replayed is tried again. */
export async function resumeCheck(
  services: CheckServices,
  requester: Changer,
  id: string,
): Promise<RealityChecksTable> {
  const { name, status } = await findCheck(services, requester, id);
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      if (!(await resumeRows(transaction, id)))
        throw new ServiceError(
          "conflict",
          `Only a paused reality check can be resumed; this one is ${status}.`,
        );
      await recordChange(transaction, requester, {
        ...{ action: "reality_check.resume", objectId: id, detail: { name } },
      });
    });
  services.replays.wake();
  return await findCheck(services, requester, id);
}

/** Deletes a reality check. The episodes that it is of stay. If that is cut off, what is left of it is deleted when it is asked for again. */
export async function deleteCheck(
  { store }: { store: Store },
  requester: Changer,
  id: string,
): Promise<void> {
  const check = await findCheck({ store }, requester, id);
  if (check.source === "continuous" && (await isDrawing({ store }, requester, check)))
    throw new ServiceError(
      "conflict",
      "It draws from the latest revision of its environment, and would begin anew. Cancel it; once the environment has another revision it can be deleted.",
    );
  const writer = store.writer(requester);
  await stopCheck(writer, id, { status: "cancelled", reason: null });
  await deleteInBatches<true>(writer, (_, limit) => deleteSomeOfCheck(writer, id, limit), requester);
  requester.signal.throwIfAborted();
  await writer.transaction().execute(async (transaction) => {
    const name = await deleteCheckRows(transaction, requester.accountId, id);
    if (name === undefined) throw noSuchCheck();
    await deleteSharesOf(transaction, requester.accountId, [id]);
    await recordChange(transaction, requester, {
      ...{ action: "reality_check.delete", objectId: id, detail: { name } },
    });
  });
}

/** Whether a continuous check is of the latest revision of its environment, which wants one. */
async function isDrawing(
  services: { store: Store },
  requester: Requester,
  { environment, environment_id, environment_revision }: RealityChecksTable,
): Promise<boolean> {
  const wanted = { name: environment ?? "", revision: undefined };
  const latest = await selectEnvironment(services.store.briefReader(requester), requester.accountId, wanted);
  const isLatest = latest?.id === environment_id && latest.revision === Number(environment_revision);
  return isLatest && (latest.config.real?.share ?? 0) > 0;
}
