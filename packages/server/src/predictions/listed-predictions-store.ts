import type { RunVerdict } from "@presage/contract";
import { sql } from "kysely";
import {
  beginningOfField,
  beginningsOfSample,
  hasMessages,
  readBeginning,
} from "../platform/storage/beginnings.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { StoredPredictionRow } from "./stored-predictions-store.ts";
import { toRunVerdict } from "./stored-rows.ts";

type Row = Pick<StoredPredictionRow, "id" | "source" | "run_id" | "position" | "repeat">;

/** What a list says about a prediction besides its own columns. */
export interface Surroundings {
  /** The beginnings of the action, and of the next state in the dataset. */
  action: string | null;
  expected: string | null;
  verdicts: RunVerdict[];
  /** The user who asked without a key or started its run, and the run's key. */
  userId: string | null;
  keyId: string | null;
}

/** The surroundings of one page of predictions, by their ids: at most three queries, and no text is read whole. */
export async function selectSurroundings(
  reader: Database,
  rows: readonly Row[],
  maxCharacters: number,
): Promise<ReadonlyMap<string, Partial<Surroundings>>> {
  const of = (source: Row["source"]) => rows.filter((row) => row.source === source).map(({ id }) => id);
  const [live, steps, samples] = [
    await selectLiveActions(reader, of("live"), maxCharacters),
    await selectEpisodeActions(reader, of("episode"), maxCharacters),
    await selectOfRuns(reader, of("run"), maxCharacters),
  ];
  const judged = await selectVerdicts(reader, of("run"));
  return new Map<string, Partial<Surroundings>>([
    ...live,
    ...steps,
    ...[...samples].map(
      ([id, sample]) => [id, { ...sample, verdicts: judged.get(id) ?? [] }] satisfies [string, unknown],
    ),
  ]);
}

const uuidCharacters = 36;
/** In this many characters of a request, after who asked, its interaction begins if it has one. */
const asksWithin = 80;

async function selectLiveActions(reader: Database, ids: readonly string[], maxCharacters: number) {
  if (ids.length === 0) return [];
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select((of) => [
      "prediction_id as id",
      of
        .case()
        .when(sql`substr(request, 1, ${sql.lit(asksWithin)})`, "like", '%"interaction":{%')
        .then(beginningOfField(reader, of.ref("request"), "action", maxCharacters))
        .end()
        .as("action"),
      beginningOfField(reader, of.ref("request"), "user_id", uuidCharacters).as("user"),
    ])
    .where("prediction_id", "in", ids)
    .execute();
  return rows.map(
    ({ id, action, user }) =>
      [
        id,
        { action: readBeginning(action, maxCharacters), userId: readBeginning(user, uuidCharacters) },
      ] as const,
  );
}

async function selectEpisodeActions(reader: Database, ids: readonly string[], maxCharacters: number) {
  if (ids.length === 0) return [];
  const rows = await reader
    .selectFrom("predictions as prediction")
    .innerJoin("episode_steps as step", (join) =>
      join.onRef("step.episode_id", "=", "prediction.run_id").onRef("step.step", "=", "prediction.position"),
    )
    .select(["prediction.id", sql<string>`substr(step.action, 1, ${maxCharacters})`.as("action")])
    .where("prediction.id", "in", ids)
    .execute();
  return rows.map(({ id, action }) => [id, { action }] as const);
}

async function selectOfRuns(reader: Database, ids: readonly string[], maxCharacters: number) {
  if (ids.length === 0) return [];
  const rows = await reader
    .selectFrom("predictions as prediction")
    .innerJoin("runs as run", "run.id", "prediction.run_id")
    .leftJoin("dataset_payloads as payload", (join) =>
      join
        .onRef("payload.revision_id", "=", "run.revision_id")
        .onRef("payload.position", "=", "prediction.position"),
    )
    .leftJoin("dataset_parts as message", (join) =>
      join
        .onRef("message.revision_id", "=", "payload.revision_id")
        .onRef("message.digest", "=", "payload.part")
        .on(hasMessages),
    )
    .select(["prediction.id", "run.created_by", "run.api_key_id"])
    .select(beginningsOfSample(reader, maxCharacters))
    .where("prediction.id", "in", ids)
    .execute();
  return rows.map(
    ({ id, action, expected, created_by, api_key_id }) =>
      [
        id,
        {
          action: readBeginning(action, maxCharacters),
          expected: readBeginning(expected, maxCharacters),
          userId: created_by,
          keyId: api_key_id,
        },
      ] as const,
  );
}

async function selectVerdicts(
  reader: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunVerdict[]>> {
  if (ids.length === 0) return new Map();
  const rows = await reader
    .selectFrom("predictions as prediction")
    .innerJoin("run_verdicts as verdict", (join) =>
      join
        .onRef("verdict.run_id", "=", "prediction.run_id")
        .onRef("verdict.position", "=", "prediction.position")
        .onRef("verdict.repeat", "=", "prediction.repeat"),
    )
    .innerJoin("runs as run", "run.id", "prediction.run_id")
    .select(["prediction.id", "verdict.evaluator", "verdict.status", "verdict.pass", "verdict.score"])
    .select(["verdict.result_id", "run.evaluators"])
    .where("prediction.id", "in", ids)
    .orderBy("verdict.evaluator")
    .execute();
  const parsed = new Map<string, Parameters<typeof toRunVerdict>[0]>();
  const verdicts = new Map<string, RunVerdict[]>();
  for (const { id, ...row } of rows) {
    const evaluators = parsed.get(row.evaluators) ?? JSON.parse(row.evaluators);
    parsed.set(row.evaluators, evaluators);
    verdicts.set(id, [...(verdicts.get(id) ?? []), toRunVerdict(evaluators, row)]);
  }
  return verdicts;
}
