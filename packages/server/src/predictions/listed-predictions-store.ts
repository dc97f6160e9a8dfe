import type { RunVerdict } from "@presage/contract";
import { type Expression, sql } from "kysely";
import type { Database } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
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

async function selectLiveActions(reader: Database, ids: readonly string[], maxCharacters: number) {
  if (ids.length === 0) return [];
  const rows = await reader
    .selectFrom("prediction_payloads")
    .select((of) => [
      "prediction_id as id",
      beginningOfField(reader, of.ref("request"), "action", maxCharacters).as("action"),
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
    .leftJoin("dataset_payloads as sample", (join) =>
      join
        .onRef("sample.revision_id", "=", "run.revision_id")
        .onRef("sample.position", "=", "prediction.position"),
    )
    .select((of) => [
      "prediction.id",
      "run.created_by",
      "run.api_key_id",
      beginningOfField(reader, of.ref("sample.body"), "action", maxCharacters).as("action"),
      beginningOfField(reader, of.ref("sample.body"), "next_state", maxCharacters).as("expected"),
    ])
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

/** How many characters of JSON one character can take. */
const longestEscape = 6;

/** The beginning of a field's value in JSON without spaces. Inside a text, the quotes around the name would be escaped. */
export function beginningOfField(
  reader: Database,
  json: Expression<string | null>,
  name: string,
  maxCharacters: number,
) {
  const key = `"${name}":`;
  const place = isPostgres(reader)
    ? sql<number>`strpos(${json}, ${key})`
    : sql<number>`instr(${json}, ${key})`;
  const length = maxCharacters * longestEscape;
  return sql<
    string | null
  >`case when ${place} > 0 then substr(${json}, ${place} + ${sql.lit(key.length)}, ${sql.lit(length)}) end`;
}

/** The text that a piece of JSON begins with, as far as it goes; null if it begins with something else. */
export function readBeginning(json: string | null, maxCharacters: number): string | null {
  const [text] = /^"(?:[^"\\]|\\u[\da-f]{4}|\\[^u])*/i.exec(json ?? "") ?? [];
  return text === undefined ? null : (JSON.parse(`${text}"`) as string).slice(0, maxCharacters);
}
