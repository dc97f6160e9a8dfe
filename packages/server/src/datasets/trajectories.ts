import type { DatasetSample, DatasetTrajectorySummary } from "@presage/contract";
import { type SqlBool, sql } from "kysely";
import { type Pieces, readInPieces } from "../platform/storage/lists.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import type { EvaluationServices } from "../results/evaluation-services.ts";
import { findRevision, noSuchDataset, unlessDeleted } from "./datasets.ts";
import { upToPage, type WantedRevision } from "./samples.ts";

/** A trajectory of a revision, and its first sample. */
export interface StoredTrajectory {
  trajectoryId: string;
  steps: number;
  firstStep: number;
  lastStep: number;
  position: number;
  /** The length of the first sample's line. */
  bytes: number;
}

export interface TrajectoryPage {
  /** Only ids with this text; ASCII letters match in both cases. */
  contains: string | undefined;
  order: "trajectory_id" | "steps" | "-steps";
  limit: number;
  after: { steps: number; trajectoryId: string } | undefined;
}

/** A page of a revision's trajectories. By id it walks an index; by steps it counts all of them first. */
export async function selectTrajectories(
  reader: Database,
  revisionId: number,
  { contains, order, limit, after }: TrajectoryPage,
): Promise<StoredTrajectory[]> {
  const steps = sql<number>`count(*)`;
  let grouped = reader
    .selectFrom("dataset_samples as counted")
    .select(({ fn }) => [
      "counted.trajectory_id",
      steps.as("steps"),
      fn.min<number>("counted.step").as("first_step"),
      fn.max<number>("counted.step").as("last_step"),
    ])
    .where("counted.revision_id", "=", revisionId)
    .groupBy("counted.trajectory_id");
  if (contains !== undefined)
    grouped = grouped.where(
      sql<SqlBool>`lower(counted.trajectory_id) like ${patternOf(contains)} escape '!'`,
    );
  if (order === "trajectory_id") {
    if (after !== undefined) grouped = grouped.where("counted.trajectory_id", ">", after.trajectoryId);
  } else {
    if (after !== undefined) grouped = grouped.having(isBehind(after, order));
    grouped = grouped.orderBy(steps, order === "steps" ? "asc" : "desc");
  }
  const page = grouped.orderBy("counted.trajectory_id").limit(limit).as("page");
  const rows = await reader
    .selectFrom(page)
    .innerJoin("dataset_samples as first", (join) =>
      join
        .on("first.revision_id", "=", revisionId)
        .onRef("first.trajectory_id", "=", "page.trajectory_id")
        .onRef("first.step", "=", "page.first_step"),
    )
    .select(["page.trajectory_id", "steps", "first_step", "last_step", "first.position", "first.bytes"])
    .$if(order !== "trajectory_id", (all) => all.orderBy("steps", order === "steps" ? "asc" : "desc"))
    .orderBy("page.trajectory_id")
    .execute();
  return rows.map(({ trajectory_id, steps, first_step, last_step, position, bytes }) => ({
    trajectoryId: trajectory_id,
    steps: Number(steps),
    firstStep: Number(first_step),
    lastStep: Number(last_step),
    position,
    bytes,
  }));
}

function isBehind({ steps, trajectoryId }: NonNullable<TrajectoryPage["after"]>, order: "steps" | "-steps") {
  const isFurther = order === "steps" ? sql`count(*) > ${steps}` : sql`count(*) < ${steps}`;
  return sql<SqlBool>`(${isFurther} or (count(*) = ${steps} and counted.trajectory_id > ${trajectoryId}))`;
}

/** Ids are lowered by the database, which on both lowers ASCII letters only. */
function patternOf(text: string): string {
  const escaped = text.replace(/[!%_]/g, (mark) => `!${mark}`);
  return `%${escaped.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}%`;
}

/** The bodies of samples, by position. */
async function selectBodies(
  reader: Database,
  revisionId: number,
  positions: readonly number[],
): Promise<Map<number, string>> {
  if (positions.length === 0) return new Map();
  const rows = await reader
    .selectFrom("dataset_payloads")
    .select(["position", "body"])
    .where("revision_id", "=", revisionId)
    .where("position", "in", positions)
    .execute();
  return new Map(rows.map(({ position, body }) => [position, body]));
}

/** One page of a revision's trajectories, and the one after which the next page starts. */
export async function listTrajectories(
  { store }: Pick<EvaluationServices, "store">,
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
