import type { Uploads } from "../datasets/upload/run-upload.ts";
import type { DatasetUploads } from "../datasets/upload/upload-revision.ts";
import type { ProfileRevision } from "../evaluators/profiles/profiles-store.ts";
import type { Registry } from "../evaluators/registry.ts";
import type { RuleRunner } from "../evaluators/rules/run-rule.ts";
import type { RunEvaluator } from "../evaluators/run-evaluator.ts";
import type { Admission } from "../platform/limits/admission.ts";
import type { Store } from "../platform/storage/store.ts";
import type { ExternalCounts } from "../runs/external/external-counts.ts";
import type { RunQueue } from "../runs/run.ts";
import type { KeysInFlight } from "./evaluate.ts";
import type { FreeRunIds } from "./placement.ts";
import type { Folder } from "./write/fold.ts";
import type { ResultWriter } from "./write/result-writer.ts";

/** What operations on evaluators, profiles, taxonomies and results need. */
export interface EvaluationServices {
  readonly store: Store;
  readonly registry: Registry;
  /** Whether a model is configured for evaluators that use one. */
  readonly hasModel: boolean;
  readonly builtInProfiles: readonly ProfileRevision[];
  readonly rules: RuleRunner;
  readonly runEvaluator: RunEvaluator;
  /** Limits of requests that evaluate. */
  readonly admission: Admission;
  readonly keysInFlight: KeysInFlight;
  readonly freeRunIds: FreeRunIds;
  readonly externalCounts: ExternalCounts;
  readonly resultWriter: ResultWriter;
  readonly folder: Pick<Folder, "schedule">;
  /** Deletions by filter are worked off in the background. */
  readonly deletions: { schedule(): void };
  readonly datasets: DatasetUploads & { readonly uploads: Uploads };
  readonly runs: RunQueue;
}
