import type { DatasetSample, DatasetTrajectorySummary } from "@presage/contract";
import { type Pieces, readInPieces } from "../platform/storage/lists.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { findRevision, noSuchDataset, unlessDeleted } from "./datasets.ts";
import { upToPage, type WantedRevision } from "./samples.ts";
import {
  type StoredTrajectory,
  selectBodies,
  selectTrajectories,
  type TrajectoryPage,
} from "./samples-store.ts";

/** One page of a revision's trajectories, and the one after which the next page starts. */
export async function listTrajectories(
  { store }: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
  page: TrajectoryPage,
): Promise<{ trajectories: Pieces<DatasetTrajectorySummary>; next: StoredTrajectory | undefined }> {
  const { id } = await findRevision({ store }, requester, wanted);
  // Both may look at all of the revision's samples.
  const isLong = page.contains !== undefined || page.order !== "trajectory_id";
  const reader = isLong ? store.reader(requester) : store.briefReader(requester);
  const reading = selectTrajectories(reader, id, { ...page, limit: page.limit + 1 });
  const found = await unlessDeleted(reading, { store }, requester, wanted);
  // Tags are in the body of the first sample, which may be long.
  const shown = upToPage(found.slice(0, page.limit));
  const byPosition = new Map(shown.map((trajectory) => [trajectory.position, trajectory]));
  const bytesOf = new Map(shown.map(({ position, bytes }) => [position, bytes]));
  return {
    trajectories: readInPieces([...byPosition.keys()], bytesOf, async (positions) => {
      const bodies = await selectBodies(reader, id, positions);
      return positions.flatMap((position) => {
        const trajectory = byPosition.get(position);
        const body = bodies.get(position);
        // It was there when the trajectory was found.
        if (body === undefined) throw noSuchDataset();
        return trajectory === undefined ? [] : [toSummary(trajectory, body)];
      });
    }),
    next: shown.length < found.length ? shown.at(-1) : undefined,
  };
}

function toSummary(
  { trajectoryId, steps, firstStep, lastStep }: StoredTrajectory,
  body: string,
): DatasetTrajectorySummary {
  // It was written as one.
  const { tags }: Pick<DatasetSample, "tags"> = JSON.parse(body);
  return {
    trajectory_id: trajectoryId,
    steps,
    first_step: firstStep,
    last_step: lastStep,
    tags: tags ?? null,
  };
}
