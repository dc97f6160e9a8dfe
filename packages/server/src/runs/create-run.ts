import {
  type DatasetChange,
  defaultRunConcurrency,
  type EpisodeStop,
  type PinnedEnds,
  type RunCreateRequest,
  type RunDraw,
  type RunEnds,
} from "@presage/contract";
import { promptVersion } from "@presage/contract/compose-prompt";
import packageJson from "../../package.json" with { type: "json" };
import { lockDataset, type Revision, selectRevision } from "../datasets/datasets-store.ts";
import { isAboutGoal } from "../environments/episodes/turns.ts";
import { findEnvironment } from "../environments/find-environment.ts";
import { findRuleIssue, rewardOf } from "../environments/rewards-and-ends.ts";
import type { Registry } from "../evaluators/registry.ts";
import type { WantedEvaluator } from "../evaluators/resolve-evaluators.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { InvalidFieldError, issueIfGone, notFound } from "../platform/errors.ts";
import { type Micros, microsPerMs, nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import { doOnce, type Once, recallEarlier } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { findReferred, type KnownWorlds } from "../worlds/find-world.ts";
import { isRecords, type ReadyWorld } from "../worlds/world.ts";
import { holdWorld } from "../worlds/worlds-store.ts";
import { asksDeployment, nameOf, noCounts, type Run, type RunQueue, type RunTarget } from "./run.ts";
import { toRunEvaluators } from "./runs.ts";
import { insertRun, selectNamesSince, selectRun } from "./runs-store.ts";

type RequestedRun = Omit<RunCreateRequest, "evaluators">;

export interface NewRun extends RequestedRun {
  evaluators: readonly WantedEvaluator[];
  userId: string;
}

/**
 * Creates a run, which this or another process soon starts to work on. Throws an `InvalidFieldError`, or an `InvalidEvaluatorsError`
 * for evaluators or profiles that cannot be used.
 */
export async function createRun(
  services: {
    store: Store;
    registry: Registry;
    runs: RunQueue;
    deployments: Pick<Deployments, "find">;
    knownWorlds: KnownWorlds;
  },
  requester: Changer,
  wanted: NewRun,
  once: Once | undefined,
): Promise<Run> {
  const { accountId, actor } = requester;
  const apiKeyId = actor.kind === "api_key" ? actor.id : null;
  const { store, runs } = services;
  const recall = async ({ id }: { id: string }): Promise<Run> => {
    const created = await selectRun(store.database, accountId, id);
    if (created === undefined) throw notFound("run");
    return created;
  };
  const earlier = await recallEarlier(store.database, once, recall);
  if (earlier !== undefined) return earlier;
  refuseImpossible(wanted, services.deployments);
  const evaluators = await toRunEvaluators(services, accountId, wanted.evaluators);
  const world = await findTargetWorld(services, requester, wanted);
  const ends = wanted.ends ? await pinEnds(services, requester, wanted.ends) : undefined;
  const heldBy = "predictions" in wanted.target ? undefined : await runs.hold?.();
  const run = await doOnce(store.writer(requester), once, {
    async work(transaction) {
      const { revision, change } = await findRevision(transaction, accountId, wanted, []);
      const target = await resolveTarget(transaction, accountId, wanted.target, world);
      const draw = drawOf(wanted, revision);
      const isLeaky = world?.pinned.calibration?.dataset_id === wanted.dataset_id;
      const made = { account_id: accountId, api_key_id: apiKeyId, evaluators, target };
      const createdAt = nowMicros();
      const name = wanted.name ?? (await nameByTime(transaction, accountId, nameOf(target), createdAt));
      const created = toQueuedRun(wanted, {
        ...made,
        name,
        createdAt,
        revision,
        change,
        draw,
        isLeaky,
        ends,
      });
      await insertRun(transaction, created, { heldBy });
      await recordChange(transaction, requester, "run.create", created.id, {
        name: created.name,
        dataset_id: wanted.dataset_id,
      });
      return created;
    },
    toReceipt: ({ id }) => ({ id }),
    recall,
  });
  runs.wake();
  return run;
}

function refuseImpossible(
  { target, params, repeats, limit, draw_seed: drawSeed }: RequestedRun,
  deployments: Pick<Deployments, "find">,
): void {
  if (limit && "predictions" in target)
    throw new InvalidFieldError(["limit"], "Predictions made elsewhere are all evaluated");
  if (drawSeed != null && !limit)
    throw new InvalidFieldError(["draw_seed"], "Nothing is drawn without a limit");
  if ("deployment" in target && deployments.find(target.deployment) === undefined)
    throw new InvalidFieldError(["target", "deployment"], "There is no deployment of this name");
  const { stream, seed } = params ?? {};
  if (stream === true) throw new InvalidFieldError(["params", "stream"], "Streaming is not supported");
  if (typeof seed !== "number") return;
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(seed + (repeats ?? 1) - 1))
    throw new InvalidFieldError(["params", "seed"], "A seed this large cannot be counted up for each repeat");
}

/** The draw of a pilot; undefined if all samples are predicted. */
function drawOf({ limit, draw_seed: seed }: RequestedRun, { samples }: Revision): RunDraw | undefined {
  return limit && limit < samples ? { samples: limit, of: samples, seed: seed ?? 1 } : undefined;
}

async function findTargetWorld(
  services: { knownWorlds: KnownWorlds },
  requester: Changer,
  { target }: RequestedRun,
): Promise<ReadyWorld | undefined> {
  if (!("world" in target)) return undefined;
  const found = await findReferred(services, requester, target.world);
  if ("reason" in found) throw new InvalidFieldError(["target", "world"], found.reason);
  return found;
}

/** The rules for the end of an episode as they are now. */
async function pinEnds(
  services: { store: Store; knownWorlds: KnownWorlds },
  requester: Changer,
  wanted: RunEnds,
): Promise<PinnedEnds> {
  const reward = wanted.reward_field ? { reward_field: wanted.reward_field } : {};
  if ("done_field" in wanted) return { done_field: wanted.done_field, ...reward };
  if ("stop" in wanted) {
    for (const [index, rule] of wanted.stop.entries()) refuseRule(rule, ["ends", "stop", index]);
    return { stop: wanted.stop, ...reward };
  }
  if (!("environment" in wanted)) return reward;
  const path = ["ends", "environment"];
  const environment = await findEnvironment(services, requester, wanted.environment).catch(issueIfGone(path));
  const { name, revision, config } = environment;
  if (!config.stop?.length)
    throw new InvalidFieldError(path, "The environment has no rule that ends an episode");
  for (const rule of config.stop) refuseRule(rule, path);
  const evaluated = await rewardOf(services, requester, config);
  return {
    environment: `${name}@${revision}`,
    stop: config.stop,
    ...(evaluated && { reward_evaluator: evaluated.evaluator }),
    ...reward,
  };
}

function refuseRule(rule: EpisodeStop, path: readonly (string | number)[]): void {
  if (isAboutGoal(rule))
    throw new InvalidFieldError(path, "A rule about {goal} cannot be tried: samples have no goal");
  const issue = findRuleIssue(rule);
  if (issue !== undefined) throw new InvalidFieldError([...path, issue.field], issue.message);
}

/** The target and the minute, with a number if another run has that name. */
async function nameByTime(transaction: Database, accountId: string, target: string, now: Micros) {
  const minute = toIsoInstant(now).slice(0, "2026-01-31T12:00".length);
  const name = `${target} ${minute.replace("T", " ")}`;
  const taken = await selectNamesSince(transaction, accountId, Date.parse(`${minute}Z`) * microsPerMs);
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name} (${number})`)) number += 1;
  return `${name} (${number})`;
}

interface RunParts extends Pick<Run, "account_id" | "api_key_id" | "evaluators" | "target" | "name"> {
  createdAt: Micros;
  revision: Revision;
  change: string | null;
  draw: RunDraw | undefined;
  /** Whether the target was fitted on the dataset. */
  isLeaky: boolean;
  ends: PinnedEnds | undefined;
}

function toQueuedRun(
  wanted: NewRun,
  { createdAt, revision, change, draw, isLeaky, ends, ...parts }: RunParts,
): Run {
  const { target } = parts;
  const repeats = wanted.repeats ?? 1;
  return {
    ...parts,
    id: Bun.randomUUIDv7(),
    status: "queued",
    status_reason: null,
    paused_by: null,
    mode: wanted.mode ?? "teacher-forced",
    params: wanted.params ?? null,
    repeats,
    concurrency: wanted.concurrency ?? defaultRunConcurrency,
    tags: wanted.tags ?? null,
    dataset: { datasetId: wanted.dataset_id, revisionId: revision.id, revision: revision.number },
    counts: { samples: (draw?.samples ?? revision.samples) * repeats, ...noCounts },
    tries: asksDeployment(parts) ? { retried: {}, timed_out: 0 } : null,
    provenance: {
      presage_version: packageJson.version,
      prompt_version: promptVersion,
      dataset_digest: revision.digest,
      ...(change !== null && { change: JSON.parse(change) as DatasetChange }),
      ...(ends && { ends }),
      ...(draw && { draw }),
      models: [],
      in_sample:
        target.kind === "retrieval" ||
        (target.kind === "most-frequent" &&
          (target.from === undefined || target.from.revisionId === revision.id)),
      ...(isLeaky && { leaky: true as const }),
    },
    notes: [],
    created_by: wanted.userId,
    created_at: createdAt,
    started_at: null,
    finished_at: null,
  };
}

/** Locks the dataset, so that it is not deleted before the run names it. */
async function findRevision(
  transaction: Database,
  accountId: string,
  { dataset_id: datasetId, revision }: Pick<RequestedRun, "dataset_id" | "revision">,
  path: readonly string[],
): Promise<{ revision: Revision; change: string | null }> {
  const dataset = await lockDataset(transaction, accountId, datasetId);
  if (dataset === undefined) throw new InvalidFieldError([...path, "dataset_id"], "There is no such dataset");
  const found = await selectRevision(transaction, datasetId, revision ?? undefined);
  if (found !== undefined) return { revision: found, change: dataset.change };
  if (revision === undefined || revision === null)
    throw new InvalidFieldError([...path, "dataset_id"], "The dataset has no revision yet");
  throw new InvalidFieldError([...path, "revision"], "The dataset has no such revision");
}

async function resolveTarget(
  transaction: Database,
  accountId: string,
  target: RequestedRun["target"],
  world: ReadyWorld | undefined,
): Promise<RunTarget> {
  if ("deployment" in target)
    return { kind: "deployment", deployment: target.deployment, model: target.model ?? undefined };
  if ("predictions" in target) return { kind: "imported" };
  if ("world" in target) {
    // Locked, so that it is not deleted before the run names it.
    if (world === undefined || !(await holdWorld(transaction, world.id)))
      throw new InvalidFieldError(["target", "world"], "The world was deleted meanwhile");
    const { name, revision, config } = world;
    return { kind: "world", name, revision, asksModel: !isRecords(config.model) };
  }
  if (target.baseline !== "most-frequent") return { kind: target.baseline };
  const { from } = target;
  if (!from) return { kind: "most-frequent", from: undefined };
  const { revision } = await findRevision(transaction, accountId, from, ["target", "from"]);
  return {
    kind: "most-frequent",
    from: { datasetId: from.dataset_id, revision: revision.number, revisionId: revision.id },
  };
}
