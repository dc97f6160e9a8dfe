import {
  findRepeatedPair,
  maxRealityPairs,
  RealityCheckRequest,
  RealityPair,
  type RealityPairsQuery,
} from "@presage/contract";
import type { z } from "zod";
import { findRevision } from "../datasets/datasets.ts";
import { listTrajectories } from "../datasets/samples.ts";
import type { TrajectoryPage } from "../datasets/samples-store.ts";
import { checkLine, createLineReader, gunzip, splitLines } from "../datasets/upload/lines.ts";
import type { EnvironmentRevision } from "../environments/environment.ts";
import { selectEnvironment } from "../environments/environments-store.ts";
import { listEpisodes } from "../environments/episodes/episode.ts";
import { toWantedEpisodes } from "../environments/episodes/episode-lines.ts";
import type { StepServices } from "../environments/episodes/step-episode.ts";
import { findEnvironment } from "../environments/find-environment.ts";
import { rewardOf } from "../environments/rewards-and-ends.ts";
import type { CallWithCaller } from "../http/call.ts";
import { receiveUpload } from "../http/receive-upload.ts";
import { validate } from "../http/validate.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import {
  conflict,
  InvalidFieldError,
  issueIfGone,
  notFound,
  UploadError,
  undefinedIfGone,
} from "../platform/errors.ts";
import { deleteInBatches } from "../platform/storage/batches.ts";
import { nowMicros, toFlag } from "../platform/storage/columns.ts";
import type { Keyset } from "../platform/storage/lists.ts";
import { doOnce, type Once, recallEarlier } from "../platform/storage/once.ts";
import { deleteSharesOf, insertRows } from "../platform/storage/rows.ts";
import type { RealityChecksTable, RealityEpisodesTable } from "../platform/storage/schema/reality.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../platform/storage/store.ts";
import { deleteCheckRows, insertCheck, selectCheck } from "./checks-store.ts";
import type { RealEnvironments } from "./real/real-environment.ts";
import { hasSuccessRule, type Recordings } from "./replays/compare.ts";
import {
  deleteSomeOfCheck,
  deleteWaiting,
  insertReplays,
  type NewReplay,
  resumeRows,
  stopCheck,
} from "./replays/replays-store.ts";

/** A check of known pairs: the body has one pair per line, the query all other fields. Undefined for another kind of body. */
export async function readPairLines(
  call: CallWithCaller,
  { environment_revision, false_success_limit, ...named }: z.infer<typeof RealityPairsQuery>,
): Promise<RealityCheckRequest | undefined> {
  if (!call.request.headers.get("content-type")?.startsWith("application/x-ndjson")) return undefined;
  const wanted: RealityCheckRequest = {
    ...named,
    pairs: await readPairs(call),
    ...(environment_revision !== undefined && { environment_revision: Number(environment_revision) }),
    ...(false_success_limit !== undefined && { false_success_limit: Number(false_success_limit) }),
  };
  // The lines are checked; what is beside them is in the query.
  return validate(RealityCheckRequest, wanted, wanted.pairs?.length === 0 ? "body" : "query");
}

async function readPairs(call: CallWithCaller): Promise<RealityPair[]> {
  return await receiveUpload(call, async (body, { isGzip }) => {
    const readLine = createLineReader((value) => checkLine(RealityPair, value));
    const pairs: RealityPair[] = [];
    const numbers: number[] = [];
    for await (const lines of splitLines(isGzip ? gunzip(body) : body)) {
      for (const line of lines) {
        const pair = readLine(line);
        if (pair === undefined) continue;
        if (pairs.length === maxRealityPairs)
          throw new UploadError({
            line: line.number,
            path: [],
            reason: `A check has at most ${maxRealityPairs} pairs`,
          });
        pairs.push(pair);
        numbers.push(line.number);
      }
    }
    const { index = -1, before = -1 } = findRepeatedPair(pairs) ?? {};
    const line = numbers[index];
    if (line === undefined) return pairs;
    const reason = `The same task, episode and policy are in line ${numbers[before]}`;
    throw new UploadError({ line, path: [], reason });
  });
}

/** Throws if two pairs have the same task, episode and policy. */
function refuseRepeated(pairs: readonly RealityPair[]): void {
  const repeated = findRepeatedPair(pairs);
  if (repeated === undefined) return;
  const reason = `The same task, episode and policy are in pair ${repeated.before + 1}`;
  throw new InvalidFieldError(["pairs", repeated.index], reason);
}

function toRow(
  check_id: string,
  position: number,
  { task_id, episode_id, policy, simulated, real, replayed }: RealityPair,
): RealityEpisodesTable {
  return {
    check_id,
    position,
    task_id,
    episode_id: episode_id ?? null,
    policy: policy ?? null,
    simulated: toFlag(simulated),
    real: toFlag(real),
    replayed: typeof replayed === "boolean" ? toFlag(replayed) : null,
    simulated_reward: null,
    real_reward: null,
    steps: null,
    diverged_at: null,
    verbs: null,
    checked_at: nowMicros(),
  };
}

export interface CheckServices {
  store: Store;
  knownWorlds: Pick<StepServices["knownWorlds"], "find">;
  realEnvironments: Pick<RealEnvironments, "find">;
  replays: { wake(): void };
}

/** What a check begins with: pairs of known outcomes, or episodes to replay. */
interface Begun {
  check: Pick<RealityChecksTable, "name" | "source" | "real" | "recordings">;
  pairs?: readonly RealityPair[];
  replays?: readonly NewReplay[];
}

/** Creates a check of known pairs or of episodes to replay. Throws an `InvalidFieldError` for fields that cannot be used. */
export async function createCheck(
  services: CheckServices,
  requester: Changer,
  { userId, ...wanted }: RealityCheckRequest & { userId: string },
  once?: Once,
): Promise<RealityChecksTable> {
  const { accountId } = requester;
  const recall = (receipt: { id?: unknown }) => findCheck(services, requester, String(receipt.id));
  const earlier = await recallEarlier(services.store.database, once, recall);
  if (earlier !== undefined) return earlier;
  const environment = await findSimulated(services, requester, wanted);
  const { check: begun, pairs = [], replays = [] } = await begin(services, requester, environment, wanted);
  const isKnown = begun.source === "pairs";
  return await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      const check = await insertCheck(transaction, {
        id: Bun.randomUUIDv7(),
        account_id: accountId,
        ...begun,
        environment: environment?.name ?? null,
        environment_id: environment?.id ?? null,
        environment_revision: environment?.revision ?? null,
        status: isKnown ? "completed" : "running",
        drawn_until: null,
        false_success_limit:
          wanted.false_success_limit ?? environment?.config.real?.false_success_limit ?? null,
        episodes: pairs.length,
        created_by: userId,
      });
      const known = pairs.map((pair, index) => toRow(check.id, index + 1, pair));
      await insertRows(transaction, "reality_episodes", known);
      if (!isKnown) await insertReplays(transaction, check.id, replays);
      const detail = { name: check.name, episodes: pairs.length + replays.length };
      await recordChange(transaction, requester, "reality_check.create", check.id, detail);
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
  const found = await findEnvironment(services, requester, name, revision ?? undefined).catch(
    undefinedIfGone,
  );
  if (found !== undefined) return found;
  throw revision
    ? new InvalidFieldError(["environment_revision"], "The environment has no such revision")
    : new InvalidFieldError(["environment"], "There is no environment of this name");
}

async function begin(
  services: CheckServices,
  requester: Requester,
  environment: EnvironmentRevision | undefined,
  wanted: RealityCheckRequest,
): Promise<Begun> {
  if (wanted.pairs) {
    refuseRepeated(wanted.pairs);
    const check = { name: wanted.name ?? "", source: "pairs" as const, real: null, recordings: null };
    return { check, pairs: wanted.pairs };
  }
  if (environment === undefined) throw new Error("The schema asks for an environment");
  if (wanted.dataset_id) return await beginWithRecordings(services, requester, environment, wanted);
  return await beginWithEpisodes(services, requester, environment, wanted);
}

const defaultLimit = 1_000;
const pageLimit = 1_000;
/** How many ids beyond the limit are held in memory: there may be millions of episodes. */
const spareIds = 50_000;

/** Draws ids by a seed while they arrive page by page. */
async function draw<Place>(
  { seed, limit }: Pick<RealityCheckRequest, "seed" | "limit">,
  readPage: (after: Place | undefined) => Promise<{ ids: string[]; next: Place | undefined }>,
): Promise<string[]> {
  const most = limit ?? defaultLimit;
  let ids: string[] = [];
  for (let after: Place | undefined; ; ) {
    const page = await readPage(after);
    ids.push(...page.ids);
    if (page.next === undefined || ids.length > most + spareIds) ids = drawBySeed(ids, seed ?? 0, most);
    if (page.next === undefined) return ids;
    after = page.next;
  }
}

async function beginWithEpisodes(
  services: CheckServices,
  requester: Requester,
  environment: EnvironmentRevision,
  { episodes, limit, seed, name: given }: RealityCheckRequest,
): Promise<Begun> {
  const { name, revision, config } = environment;
  const real = config.real?.name;
  if (real === undefined || services.realEnvironments.find(real) === undefined)
    throw new InvalidFieldError(["environment"], "It names no real environment that the operator declares");
  await refuseHopeless(services, requester, environment, "episodes");
  const filter = toWantedEpisodes({ ...episodes, environment: name, revision });
  const wanted = { ...filter, status: "finished" as const, ofAgents: true };
  const drawn = await draw({ seed, limit }, async (after: Keyset | undefined) => {
    const { rows, next } = await listEpisodes(services, requester, wanted, { limit: pageLimit, after });
    return { ids: rows.map(({ id }) => id), next };
  });
  if (drawn.length === 0)
    throw new InvalidFieldError(["episodes"], `No ended episode of revision ${revision} matches`);
  const check = { name: given ?? `${name}, revision ${revision}, against ${real}`, real };
  return {
    check: { ...check, source: "episodes", recordings: null },
    replays: drawn.map((episode_id) => ({ episode_id, trajectory_id: null })),
  };
}

async function beginWithRecordings(
  services: CheckServices,
  requester: Requester,
  environment: EnvironmentRevision,
  { dataset_id, revision: asked, success_reward, limit, seed, name }: RealityCheckRequest,
): Promise<Begun> {
  await refuseHopeless(services, requester, environment, "recordings");
  const wanted = { id: dataset_id ?? "", number: asked ?? undefined };
  const { number: revision } = await findRevision(services, requester, wanted).catch(
    issueIfGone(["dataset_id"]),
  );
  const drawn = await draw({ seed, limit }, async (after: TrajectoryPage["after"]) => {
    const page = { contains: undefined, order: "trajectory_id" as const, limit: pageLimit, after };
    const found = await listTrajectories(services, requester, { ...wanted, number: revision }, page);
    const ids: string[] = [];
    for await (const some of found.trajectories.read()) ids.push(...some.map((one) => one.trajectory_id));
    return { ids, next: found.next };
  });
  const recordings: Recordings = { datasetId: wanted.id, revision, successReward: success_reward ?? 1 };
  const named = name ?? `${environment.name}, revision ${environment.revision}, against recordings`;
  return {
    check: { name: named, source: "recordings", real: null, recordings: JSON.stringify(recordings) },
    replays: drawn.map((trajectory_id) => ({ episode_id: null, trajectory_id })),
  };
}

/** The ids that a seed draws, in the order in which it draws them. */
function drawBySeed(ids: readonly string[], seed: number, most: number): string[] {
  const hashed = ids.map((id) => [Bun.hash.wyhash(id, BigInt(seed)), id] as const);
  return hashed
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .slice(0, most)
    .map(([, id]) => id);
}

/** Refuses an environment in which nothing could succeed. Recordings have no goal, so rules that need one do not count for them. */
async function refuseHopeless(
  services: CheckServices,
  requester: Requester,
  { config }: EnvironmentRevision,
  source: "episodes" | "recordings",
): Promise<void> {
  const hasRule = hasSuccessRule(config, { goal: "any" });
  const applies = source === "recordings" ? hasSuccessRule(config, {}) : hasRule;
  if (applies || (await rewardOf(services, requester, config)) !== undefined) return;
  if (hasRule)
    throw new InvalidFieldError(
      ["dataset_id"],
      "The environment's success is about {goal}, which recordings do not have, and it has no reward",
    );
  throw new InvalidFieldError(
    ["environment"],
    "Nothing says what success in it is: it has no rule of success and no reward",
  );
}

export async function findCheck(
  { store }: { store: Store },
  requester: Requester,
  id: string,
): Promise<RealityChecksTable> {
  const found = await selectCheck(store.briefReader(requester), requester.accountId, id);
  if (found === undefined) throw notFound("reality check");
  return found;
}

/** Changes a check and records who did. */
async function changeCheck(
  { store }: { store: Store },
  requester: Changer,
  { id, name }: Pick<RealityChecksTable, "id" | "name">,
  verb: "cancel" | "resume" | "delete",
  work: (transaction: Database) => Promise<void>,
): Promise<void> {
  await inTransaction(store, requester, async (transaction) => {
    await work(transaction);
    const action = `reality_check.${verb}` as const;
    await recordChange(transaction, requester, action, id, { name });
  });
}

/** Ends a check early, keeping what was replayed. */
export async function cancelCheck(services: { store: Store }, requester: Changer, id: string): Promise<void> {
  const check = await findCheck(services, requester, id);
  await changeCheck(services, requester, check, "cancel", async (transaction) => {
    if (!(await stopCheck(transaction, id, { status: "cancelled", reason: null })))
      throw conflict("The reality check has ended.");
    await deleteWaiting(transaction, id);
  });
}

/** Resumes a paused check, and retries what could not be replayed. */
export async function resumeCheck(services: { store: Store }, requester: Changer, id: string): Promise<void> {
  const check = await findCheck(services, requester, id);
  await changeCheck(services, requester, check, "resume", async (transaction) => {
    if (!(await resumeRows(transaction, id)))
      throw conflict(`Only a paused reality check can be resumed; this one is ${check.status}.`);
  });
}

/** Deletes a reality check. Its episodes stay. Repeating the request finishes an interrupted deletion. */
export async function deleteCheck({ store }: { store: Store }, requester: Changer, id: string) {
  const check = await findCheck({ store }, requester, id);
  if (check.source === "continuous" && (await isDrawing({ store }, requester, check)))
    throw conflict(
      "It draws from the latest revision of its environment, and would be created again. Cancel it; once the environment has another revision it can be deleted.",
    );
  const writer = store.writer(requester);
  // The cancellation is recorded in the same transaction: the deletion that follows may be interrupted.
  await inTransaction(store, requester, async (transaction) => {
    if (await stopCheck(transaction, id, { status: "cancelled", reason: null }))
      await recordChange(transaction, requester, "reality_check.cancel", id, { name: check.name });
  });
  await deleteInBatches<true>(writer, (_, limit) => deleteSomeOfCheck(writer, id, limit), requester);
  requester.signal.throwIfAborted();
  await changeCheck({ store }, requester, check, "delete", async (transaction) => {
    if (!(await deleteCheckRows(transaction, requester.accountId, id))) throw notFound("reality check");
    await deleteSharesOf(transaction, requester.accountId, [id]);
  });
}

/** Whether a continuous check belongs to its environment's latest revision, and that revision still wants one. */
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
