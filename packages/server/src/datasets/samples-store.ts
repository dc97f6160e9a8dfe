import { type SqlBool, sql } from "kysely";
import { insertRows } from "../platform/storage/rows.ts";
import type { DatasetPayloadsTable, DatasetSamplesTable } from "../platform/storage/schema/runs.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Part } from "./formats.ts";

/** Stores parts that the revision does not have yet. */
export async function insertParts(transaction: Database, revisionId: number, parts: Iterable<Part>) {
  const rows = Array.from(parts, ({ digest, previous, text }) => ({
    revision_id: revisionId,
    digest,
    previous,
    text,
  }));
  await insertRows(transaction, "dataset_parts", rows, "on conflict (revision_id, digest) do nothing");
}

/** Stores samples whose step and id the revision does not have yet. Returns the positions of the stored samples. */
export async function insertSamples(transaction: Database, rows: readonly DatasetSamplesTable[]) {
  const inserted = await insertRows(
    transaction,
    "dataset_samples",
    rows,
    "on conflict do nothing returning position",
  );
  return new Set(inserted.map(({ position }) => position));
}

export async function insertPayloads(transaction: Database, rows: readonly DatasetPayloadsTable[]) {
  await insertRows(transaction, "dataset_payloads", rows);
}

/** Whether a revision has a step of a trajectory. */
export async function hasStep(database: Database, { revision_id, trajectory_id, step }: DatasetSamplesTable) {
  const found = await database
    .selectFrom("dataset_samples")
    .select("position")
    .where("revision_id", "=", revision_id)
    .where("trajectory_id", "=", trajectory_id)
    .where("step", "=", step)
    .executeTakeFirst();
  return found !== undefined;
}

/** Keeps each count to a few milliseconds. */
const countedAtOnce = 50_000;

/** Counts a revision's trajectories, a range of samples at a time. */
export async function countTrajectories(database: Database, revisionId: number) {
  let count = 0;
  let last: string | null = "";
  while (last !== null) {
    const samples = database
      .selectFrom("dataset_samples")
      .select("trajectory_id")
      .where("revision_id", "=", revisionId)
      .where("trajectory_id", ">", last)
      .orderBy("trajectory_id")
      .limit(countedAtOnce)
      .as("samples");
    const counted: { trajectories: number; last: string | null } = await database
      .selectFrom(samples)
      .select((of) => [
        of.fn.count<number>("trajectory_id").distinct().as("trajectories"),
        of.fn.max("trajectory_id").as("last"),
      ])
      .executeTakeFirstOrThrow();
    count += counted.trajectories;
    last = counted.last;
  }
  return count;
}

export interface SampleSize {
  position: number;
  bytes: number;
}

/** The samples of a revision after a position, in order. */
export async function selectSizes(
  reader: Database,
  revisionId: number,
  { after, limit }: { after: number; limit: number },
): Promise<SampleSize[]> {
  return await reader
    .selectFrom("dataset_samples")
    .select(["position", "bytes"])
    .where("revision_id", "=", revisionId)
    .where("position", ">", after)
    .orderBy("position")
    .limit(limit)
    .execute();
}

/** The samples of a trajectory after a step, in order. */
export async function selectTrajectorySizes(
  reader: Database,
  revisionId: number,
  trajectoryId: string,
  { after, limit }: { after: number; limit: number },
) {
  return await reader
    .selectFrom("dataset_samples")
    .select(["position", "bytes", "step"])
    .where("revision_id", "=", revisionId)
    .where("trajectory_id", "=", trajectoryId)
    .where("step", ">", after)
    .orderBy("step")
    .limit(limit)
    .execute();
}

/** A sample's place in the order of trajectories. */
export type TrajectoryStep = Pick<DatasetSamplesTable, "trajectory_id" | "step">;

/** The samples of a revision by trajectory and step, after a given one. */
export async function selectSizesByTrajectory(
  reader: Database,
  revisionId: number,
  { after, limit }: { after: TrajectoryStep | undefined; limit: number },
) {
  let query = reader
    .selectFrom("dataset_samples")
    .select(["position", "bytes", "trajectory_id", "step"])
    .where("revision_id", "=", revisionId);
  if (after !== undefined)
    query = query.where(sql<SqlBool>`(trajectory_id, step) > (${after.trajectory_id}, ${after.step})`);
  return await query.orderBy("trajectory_id").orderBy("step").limit(limit).execute();
}

/** The position of the sample with an id. */
export async function selectPositionOf(reader: Database, revisionId: number, sampleId: string) {
  const row = await reader
    .selectFrom("dataset_samples")
    .select("position")
    .where("revision_id", "=", revisionId)
    .where("sample_id", "=", sampleId)
    .executeTakeFirst();
  return row?.position;
}

/** The positions of a trajectory's steps before a given step, in order; the last `limit` of them. */
export async function selectEarlierPositions(
  reader: Database,
  revisionId: number,
  { trajectory_id, step, limit }: { trajectory_id: string; step: number; limit: number },
) {
  const rows = await reader
    .selectFrom("dataset_samples")
    .select("position")
    .where("revision_id", "=", revisionId)
    .where("trajectory_id", "=", trajectory_id)
    .where("step", "<", step)
    .orderBy("step", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ position }) => position).reverse();
}

export type StoredSample = Pick<DatasetSamplesTable, "position" | "trajectory_id" | "step" | "sample_id"> &
  Pick<DatasetPayloadsTable, "part" | "body">;

/** The samples at these positions, in no particular order. */
export async function selectSamples(
  reader: Database,
  revisionId: number,
  positions: readonly number[],
): Promise<StoredSample[]> {
  if (positions.length === 0) return [];
  return await reader
    .selectFrom("dataset_samples as sample")
    .innerJoin("dataset_payloads as payload", (join) =>
      join
        .onRef("payload.revision_id", "=", "sample.revision_id")
        .onRef("payload.position", "=", "sample.position"),
    )
    .select(["sample.position", "trajectory_id", "step", "sample_id", "part", "body"])
    .where("sample.revision_id", "=", revisionId)
    .where("sample.position", "in", positions)
    .execute();
}

/** Parts, and all parts that they are linked to, by digest. */
export async function selectParts(
  reader: Database,
  revisionId: number,
  digests: readonly string[],
): Promise<Map<string, Omit<Part, "digest">>> {
  if (digests.length === 0) return new Map();
  const { rows } = await sql<Part>`
    with recursive chain(digest, previous) as (
      select digest, previous from dataset_parts
      where revision_id = ${revisionId} and digest in (${sql.join(digests)})
      union
      select part.digest, part.previous from chain
      join dataset_parts part on part.revision_id = ${revisionId} and part.digest = chain.previous)
    select part.digest, part.previous, part.text from chain
    join dataset_parts part on part.revision_id = ${revisionId} and part.digest = chain.digest`.execute(
    reader,
  );
  return new Map(rows.map(({ digest, ...part }) => [digest, part]));
}

/** Deletes some rows of a revision. Returns whether more may be left. */
export async function deleteSomeRows(database: Database, revisionId: number, count: number) {
  for (const table of ["sample_traits", "dataset_payloads", "dataset_samples"] as const) {
    const { first } = await database
      .selectFrom(table)
      .select((of) => of.fn.min("position").as("first"))
      .where("revision_id", "=", revisionId)
      .executeTakeFirstOrThrow();
    if (first === null) continue;
    await database
      .deleteFrom(table)
      .where("revision_id", "=", revisionId)
      .where("position", "<", first + count)
      .execute();
    return true;
  }
  const digests = await database
    .selectFrom("dataset_parts")
    .select("digest")
    .where("revision_id", "=", revisionId)
    .limit(count)
    .execute();
  if (digests.length === 0) return false;
  await database
    .deleteFrom("dataset_parts")
    .where("revision_id", "=", revisionId)
    .where(
      "digest",
      "in",
      digests.map(({ digest }) => digest),
    )
    .execute();
  return true;
}

/** A trajectory of a revision, with the position of its first sample and the length of that sample's line. */
export interface StoredTrajectory extends Pick<DatasetSamplesTable, "trajectory_id" | "position" | "bytes"> {
  steps: number;
  first_step: number;
  last_step: number;
}

export interface TrajectoryPage {
  /** Only ids that contain this text; ASCII letters match in either case. */
  contains: string | undefined;
  order: "trajectory_id" | "steps" | "-steps";
  limit: number;
  after: Pick<StoredTrajectory, "steps" | "trajectory_id"> | undefined;
}

/** A page of a revision's trajectories. Ordered by id it walks an index; ordered by steps it first counts all of them. */
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
    if (after !== undefined) grouped = grouped.where("counted.trajectory_id", ">", after.trajectory_id);
  } else {
    if (after !== undefined) grouped = grouped.having(isBehind(after, order));
    grouped = grouped.orderBy(steps, order === "steps" ? "asc" : "desc");
  }
  const page = grouped.orderBy("counted.trajectory_id").limit(limit).as("page");
  return await reader
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
}

function isBehind({ steps, trajectory_id }: NonNullable<TrajectoryPage["after"]>, order: "steps" | "-steps") {
  const isFurther = order === "steps" ? sql`count(*) > ${steps}` : sql`count(*) < ${steps}`;
  return sql<SqlBool>`(${isFurther} or (count(*) = ${steps} and counted.trajectory_id > ${trajectory_id}))`;
}

/** The database lowercases the ids; both databases lowercase ASCII letters only. */
function patternOf(text: string): string {
  const escaped = text.replace(/[!%_]/g, (mark) => `!${mark}`);
  return `%${escaped.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}%`;
}

/** The bodies of samples, by position. */
export async function selectBodies(
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
