import type {
  ReportEvaluator as EvaluatorNames,
  RunEvaluator as NamedEvaluator,
  RunProgress,
  RunProvenance,
  RunStatus,
} from "@presage/contract";
import type { RunsTable } from "../platform/storage/schema/runs.ts";

/** What predicts. */
export type RunTarget =
  | { kind: "deployment"; deployment: string; model: string | undefined }
  | { kind: "no-change" }
  | { kind: "most-frequent"; from: { datasetId: string; revision: number; revisionId: number } | undefined }
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

/** What work on a run adds to, beside its rows. */
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
/** Of a run whose client makes its predictions. */
export const notCounted = { ...noCounts, truncated: null, empty: null, repaired: null };

/** Counts of samples times repeats. Null: not counted. */
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

/** A run as it is stored, its JSON read. */
export interface Run
  extends Pick<
    RunsTable,
    PlainColumns | "created_by" | "api_key_id" | "created_at" | "started_at" | "finished_at"
  > {
  status: RunStatus;
  target: RunTarget;
  params: Readonly<Record<string, unknown>> | null;
  evaluators: readonly RunEvaluator[];
  /** Of an external run: those of its results. Absent where they are not needed. */
  externalEvaluators?: readonly EvaluatorNames[];
  tags: Readonly<Record<string, string>> | null;
  /** Absent if the target is external. */
  dataset: RunDataset | undefined;
  counts: RunCounts;
  /** Null: not counted. */
  tries: RunTries | null;
  provenance: RunProvenance;
  notes: readonly string[];
}

/** Told when a run was created, resumed, cancelled or paused: its process looks for work at once. */
export interface RunQueue {
  wake(): void;
}

/** Whether a client makes its results. */
export function isExternal({ target }: Pick<Run, "target">): boolean {
  return target.kind === "external";
}

/** Of the statuses that a run never leaves. */
export function hasEnded({ status }: Pick<Run, "status">): boolean {
  return status === "finished" || status === "cancelled" || status === "failed";
}

/** Whether its figures may still change by themselves. When a client's run ends is not known. */
export function isPreliminary(run: Pick<Run, "status" | "target">): boolean {
  return !hasEnded(run) && !isExternal(run);
}

/** Whether verdicts of two evaluators can be compared: nothing that they were made with differs. */
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

/** The same for evaluators by name. A client's own has no profile, or one of which only the name is known. */
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
