import type { EvaluatorProfile } from "@presage/contract";
import { parseJson } from "../../http/read-json.ts";
import { toIsoInstant } from "../../platform/storage/micros.ts";
import { withOldProfileNames } from "../old-names.ts";
import type { ProfileRevision } from "./profiles-store.ts";

/** A revision of a profile in a response, under new names and old. */
export function toEvaluatorProfile({
  config,
  created_at,
  archived_at,
  ...rest
}: ProfileRevision): EvaluatorProfile {
  return withOldProfileNames({
    ...rest,
    // Checked before it was stored.
    config: parseJson(config) as EvaluatorProfile["config"],
    created_at: toIsoInstant(created_at),
    archived_at: archived_at === null ? null : toIsoInstant(archived_at),
  });
}

/** The same as JSON. The config is stored as JSON and is neither parsed nor written again. */
export function evaluatorProfileJson(revision: ProfileRevision): string {
  const { config: _, ...rest } = toEvaluatorProfile({ ...revision, config: "{}" });
  return `${JSON.stringify(rest).slice(0, -1)},"config":${revision.config}}`;
}
