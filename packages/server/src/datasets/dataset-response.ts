import type { Dataset, DatasetRevision } from "@presage/contract";
import { toIsoInstant } from "../platform/storage/micros.ts";
import type { DatasetWithRevision } from "./find-dataset.ts";
import type { Revision } from "./revisions-store.ts";

export function toDataset({ dataset, latest }: DatasetWithRevision): Dataset {
  return {
    id: dataset.id,
    name: dataset.name,
    description: dataset.description,
    tags: dataset.tags === null ? null : (JSON.parse(dataset.tags) as Dataset["tags"]),
    change: dataset.change === null ? null : (JSON.parse(dataset.change) as Dataset["change"]),
    latest_revision: latest === undefined ? null : toDatasetRevision(latest),
    created_by: dataset.created_by,
    created_at: toIsoInstant(dataset.created_at),
  };
}

export function toDatasetRevision({
  number,
  digest,
  samples,
  trajectories,
  bytes,
  createdAt,
  warnings,
}: Revision): DatasetRevision {
  const created_at = toIsoInstant(createdAt);
  return { revision: number, digest, samples, trajectories, bytes, created_at, warnings };
}
