import { hostname } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type ReportEvaluator as EvaluatorNames,
  type RunEvaluator as NamedEvaluator,
  type RunDraw,
  type RunProgress,
  type RunProvenance,
  type RunReport,
  type RunStatus,
  type Run as WireRun,
  worldReference,
} from "@presage/contract";
import { costOf, type Prices, withoutNoise } from "../platform/prices.ts";
import { isoInstantOrNull, type Micros, toIsoInstant } from "../platform/storage/columns.ts";
import { isProcessRunning } from "../platform/storage/leases.ts";
import type { RunsTable } from "../platform/storage/schema/runs.ts";
import { sha256Hex } from "../platform/words.ts";

/** The source of the predictions. */
export type RunTarget =
  | { kind: "deployment"; deployment: string; model: string | undefined }
  | { kind: "no-change" }
  | { kind: "most-frequent"; from: { datasetId: string; revision: number; revisionId: number } | undefined }
  | { kind: "retrieval" }
  /** `asksModel`: whether it asks a model, rather than answering from its records alone. */
  | { kind: "world"; name: string; revision: number; asksModel: boolean }
  | { kind: "imported" }
  /** A client evaluates, and sends the results. */
  | { kind: "external" };

/** An evaluator of a run, with the revision of its profile that the run uses to its end. */
export interface RunEvaluator {
  id: string;
  family: string;
  profile: { name: string; publicId: string; revision: number };
  explainStrategy: "never" | "on-fail" | "on-success" | "always";
}

/** The revision of a dataset whose samples are predicted. */
export interface RunDataset {
  datasetId: string;
  revisionId: number;
  revision: number;
}

/** A trajectory of a revision, or the part of it that a pilot predicts. */
export interface TrajectoryLength {
  trajectoryId: string;
  samples: number;
}

/** The counts that work on a run adds to. */
export const noCounts = {
  predicted: 0,
  evaluated: 0,
  failed: 0,
  unpredicted: 0,
  truncated: 0,
  empty: 0,
  repaired: 0,
};

export type WorkCounts = typeof noCounts;
export const countNames = Object.keys(noCounts) as (keyof WorkCounts)[];
/** The counts of a run whose client makes its predictions. */
export const notCounted = { ...noCounts, truncated: null, empty: null, repaired: null };

/** Counts of samples times repeats; null if not counted. */
export type RunCounts = { samples: number } & {
  [Name in keyof WorkCounts]: WorkCounts[Name] | (typeof notCounted)[Name];
};

/** Failed calls to the deployment, which may have succeeded when they were tried again. */
export type RunTries = NonNullable<RunProgress["tries"]>;

type PlainColumns =
  | "id"
  | "account_id"
  | "name"
  | "status_reason"
  | "paused_by"
  | "mode"
  | "repeats"
  | "concurrency";

/** A run as it is stored, with its JSON parsed. */
export interface Run
  extends Pick<
    RunsTable,
    PlainColumns | "created_by" | "api_key_id" | "created_at" | "started_at" | "finished_at"
  > {
  status: RunStatus;
  target: RunTarget;
  params: Readonly<Record<string, unknown>> | null;
  evaluators: readonly RunEvaluator[];
  /** The evaluators of a client run's results. Absent where they are not needed. */
  clientEvaluators?: readonly EvaluatorNames[];
  tags: Readonly<Record<string, string>> | null;
  /** Absent if the target is external. */
  dataset: RunDataset | undefined;
  counts: RunCounts;
  /** Null if not counted. */
  tries: RunTries | null;
  provenance: RunProvenance;
  notes: readonly string[];
}

/** `runner/start-runner.ts`, called when a run was created, resumed, cancelled or paused, to look for work immediately. */
export interface RunQueue {
  wake(): void;
  /** The lease of a new run that only this process works on. If absent, any process may take the run. */
  hold?(): Promise<HeldLease>;
}

/** Whether a client makes the run's results. */
export function isClientRun({ target }: Pick<Run, "target">): boolean {
  return target.kind === "external";
}

/** Whether the run asks a deployment for its predictions. */
export function asksDeployment({ target }: Pick<Run, "target">): boolean {
  return target.kind === "deployment" || (target.kind === "world" && target.asksModel);
}

/** Who pays for the calls of a run: the key that started it, or the user. */
export function payerOf({ api_key_id, created_by }: Pick<Run, "api_key_id" | "created_by">): string {
  return api_key_id ?? created_by;
}

/** A target in words. */
export function nameOf(target: RunTarget): string {
  if (target.kind === "world") return worldReference(target);
  return target.kind === "deployment" ? (target.model ?? target.deployment) : target.kind;
}

/** Whether the run's status is final. */
export function hasEnded({ status }: Pick<Run, "status">): boolean {
  return status === "finished" || status === "cancelled" || status === "failed";
}

/** How many samples the run's revision has, whether it predicts them or not. */
export function samplesOfRevision({
  counts,
  repeats,
  provenance,
}: Pick<Run, "counts" | "repeats" | "provenance">): number {
  return provenance.draw?.of ?? counts.samples / repeats;
}

/** Whether figures of a run may be compared with those of another: it predicts all samples that the other does. */
export function hasSamplesOf(one: RunProvenance, other: RunProvenance): boolean {
  return one.draw === undefined || areOfSameSamples(one, other);
}

/** Whether two runs of a revision predict the same samples of it. */
export function areOfSameSamples(one: RunProvenance, other: RunProvenance): boolean {
  return JSON.stringify(one.draw) === JSON.stringify(other.draw);
}

/** Whether the run's figures may still change by themselves. When a client's run ends is unknown. */
export function isPreliminary(run: Pick<Run, "status" | "target">): boolean {
  return !hasEnded(run) && !isClientRun(run);
}

/** Whether verdicts of two evaluators can be compared, because both were made with the same evaluator and profile revision. */
export function isSameEvaluator(a: RunEvaluator, b: RunEvaluator): boolean {
  return (
    a.id === b.id && a.profile.publicId === b.profile.publicId && a.profile.revision === b.profile.revision
  );
}

/** An evaluator as the API names it. */
export function toEvaluatorNames({ id, profile }: RunEvaluator): NamedEvaluator {
  return {
    evaluator: id,
    profile_name: profile.name,
    profile_id: profile.publicId,
    profile_revision: profile.revision,
  };
}

export type { EvaluatorNames };

/** The same for evaluators by name. A client's own evaluator has no profile, or only a profile's name. */
export function isSameNamed(a: EvaluatorNames, b: EvaluatorNames): boolean {
  return (
    a.evaluator === b.evaluator &&
    a.profile_id === b.profile_id &&
    a.profile_revision === b.profile_revision &&
    (a.profile_id !== null || a.profile_name === b.profile_name)
  );
}

/** The name of a sample of a dataset, by which runs of different kinds are matched. */
export function sampleName(datasetId: string | null, sampleKey: string): string {
  return JSON.stringify([datasetId, sampleKey]);
}

/** A run as the API shows it. */
export function toRun(run: Run): WireRun {
  return {
    id: run.id,
    name: run.name,
    status: run.status,
    status_reason: run.status_reason,
    progress: toProgress(run),
    dataset_id: run.dataset?.datasetId ?? null,
    revision: run.dataset?.revision ?? null,
    target: toTarget(run.target),
    params: run.params && { ...run.params },
    mode: run.mode,
    evaluators: [...(run.clientEvaluators ?? run.evaluators.map(toEvaluatorNames))],
    repeats: run.repeats,
    concurrency: run.concurrency,
    tags: run.tags && { ...run.tags },
    provenance: run.provenance,
    notes: [...run.notes],
    created_by: run.created_by,
    created_at: toIsoInstant(run.created_at),
    started_at: isoInstantOrNull(run.started_at),
    finished_at: isoInstantOrNull(run.finished_at),
  };
}

function toProgress({ counts, tries }: Run): RunProgress {
  const { unpredicted, truncated, empty, repaired, ...progress } = counts;
  return {
    ...progress,
    failed_predictions: unpredicted,
    without_verdict: progress.failed - unpredicted,
    answers:
      truncated === null || empty === null || repaired === null ? null : { truncated, empty, repaired },
    tries,
  };
}

function toTarget(target: RunTarget): WireRun["target"] {
  switch (target.kind) {
    case "deployment": {
      const { deployment, model } = target;
      return model === undefined ? { deployment } : { deployment, model };
    }
    case "world":
      return { world: worldReference(target) };
    case "no-change":
    case "retrieval":
      return { baseline: target.kind };
    case "most-frequent": {
      const { from } = target;
      return from === undefined
        ? { baseline: "most-frequent" }
        : { baseline: "most-frequent", from: { dataset_id: from.datasetId, revision: from.revision } };
    }
    case "imported":
      return { predictions: "imported" };
    case "external":
      return { external: true };
  }
}

export type TokenSums = { [Kind in keyof RunReport["tokens"]]: number };

/** What a run's predictions cost at today's prices; null without prices, or if the run calls no model. */
export function runCost(
  { target }: Pick<Run, "target">,
  tokensByModel: ReadonlyMap<string | null, TokenSums>,
  prices: Prices | undefined,
): NonNullable<RunReport["cost"]> | null {
  if (prices === undefined || target.kind === "imported" || target.kind === "external") return null;
  const models = [...tokensByModel].map(([model, { prompt, cached, completion }]) => {
    const tokens = { promptTokens: prompt, upstreamCachedTokens: cached, completionTokens: completion };
    const cost = costOf(prices, model ?? undefined, tokens);
    return {
      model,
      prompt_tokens: prompt,
      cached_tokens: cached,
      completion_tokens: completion,
      cost: cost === null ? null : withoutNoise(cost),
    };
  });
  const priced = models.flatMap(({ cost }) => cost ?? []);
  return {
    currency: prices.currency,
    total:
      models.length > 0 && priced.length === 0
        ? null
        : withoutNoise(priced.reduce((sum, one) => sum + one, 0)),
    unpriced_tokens: models
      .filter(({ cost }) => cost === null)
      .reduce((sum, one) => sum + one.prompt_tokens + one.completion_tokens, 0),
    models: models.sort((a, b) => ((a.model ?? "") < (b.model ?? "") ? -1 : 1)),
  };
}

export const runLeaseMs = 30_000;
/** Longer than a batch waits for the client. */
export const uploadLeaseMs = 120_000;

/** A run, and the lease of the process that works on it. */
export interface Lease {
  id: string;
  leaseId: string;
}

/** A lease of a run that is not stored yet. Times are the database's. */
export interface HeldLease {
  leaseId: string;
  until: Micros;
}

/** Unlike the process number alone, this is never the same for another process. */
const thisProcess = `${hostname()}/${process.pid}/${Bun.randomUUIDv7()}`;

/** The id of a new lease, which names this process. */
export function newLeaseId(): string {
  return `${thisProcess}/${Bun.randomUUIDv7()}`;
}

/** Whether the process that a lease's id names has ended; false if unknown: on another machine, or without a name. */
export function isOfDeadProcess(leaseId: string): boolean {
  const [host, pid] = leaseId.split("/");
  if (host !== hostname() || pid === undefined || leaseId.startsWith(thisProcess)) return false;
  // After a restart in a container, this process has the number of the previous one.
  return Number(pid) === process.pid || !isProcessRunning(Number(pid));
}

/** A prediction's index among those of all samples, in which the repeats of a sample are adjacent. */
export function predictionIndex(
  { position, repeat }: { position: number; repeat: number },
  repeats: number,
): number {
  return (position - 1) * repeats + repeat;
}

/** Takes some milliseconds of the main thread. */
const trajectoriesAtOnce = 5_000;

/**
 * The trajectories that a pilot predicts, with the number of their steps, from the first: whole ones, by the hash of the seed and their
 * id, until there are enough samples; of the last one only the steps still needed. The same revision and seed give the same draw.
 */
export async function drawTrajectories(
  lengths: Iterable<TrajectoryLength> | AsyncIterable<TrajectoryLength>,
  { samples, seed }: Pick<RunDraw, "samples" | "seed">,
): Promise<Map<string, number>> {
  let drawn: (TrajectoryLength & { place: string })[] = [];
  let seen = 0;
  const cut = () => {
    let left = samples;
    drawn = drawn
      .sort((a, b) => (a.place < b.place ? -1 : 1))
      .filter((one) => {
        const isWanted = left > 0;
        left -= one.samples;
        return isWanted;
      });
  };
  for await (const length of lengths) {
    const place = sha256Hex(`${seed} ${length.trajectoryId}`);
    drawn.push({ ...length, place });
    seen += 1;
    if (seen % trajectoriesAtOnce !== 0) continue;
    cut();
    await nextTurn();
  }
  cut();
  let left = samples;
  return new Map(
    drawn.map(({ trajectoryId, samples: own }) => {
      const taken = Math.min(own, left);
      left -= taken;
      return [trajectoryId, taken];
    }),
  );
}
