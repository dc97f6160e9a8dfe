import {
  numbersPerStretch,
  resultNumbers,
} from "../../../packages/server/src/platform/storage/sample-columns.ts";
import type { EvaluationSeriesTable } from "../../../packages/server/src/platform/storage/schema/results.ts";
import { seriesIdOf } from "../../../packages/server/src/results/write/counts-store.ts";
import { endMicros } from "./distribution.ts";
import type { DatabaseName } from "./fill-and-start.ts";

export interface Connection {
  readonly run: (statement: string) => Promise<void>;
  readonly read: (statement: string) => Promise<readonly unknown[]>;
}

const microsPerDay = 86_400_000_000;
const seriesAtOnce = 500;

const everyDimension = {
  account_id: "result.account_id",
  app: "result.app",
  evaluator_id: "result.evaluator_id",
  evaluator_family: "result.evaluator_family",
  profile_name: "result.profile_name",
  profile_public_id: "result.profile_public_id",
  profile_revision: "result.profile_revision",
};
const verdict = `case when status <> 'success' then status when counted_pass is null then 'none'
  when counted_pass = 1 then 'pass' else 'fail' end`;

const quote = (value: unknown): string =>
  typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`;

/** Each result counts in its run's series and in the series of all runs. */
const countSeries = async (
  { run, read }: Connection,
  spansRuns: boolean,
  database: DatabaseName,
): Promise<void> => {
  const dimensions = {
    ...everyDimension,
    spans_runs: spansRuns ? "1" : "0",
    run_id: spansRuns ? "''" : "coalesce(result.run_id, '')",
  };
  const sources = Object.entries(dimensions);
  const selected = sources.map(([name, source]) => `${source} as ${name}`).join(", ");
  const found = (await read(`select distinct ${selected} from evaluation_results as result`)) as Omit<
    EvaluationSeriesTable,
    "id"
  >[];
  const series = found.map((row) => {
    const numbers = {
      profile_revision: Number(row.profile_revision),
      spans_runs: spansRuns ? (1 as const) : (0 as const),
    };
    const id = seriesIdOf({ ...row, ...numbers });
    return `(${[id, ...Object.values({ ...row, ...numbers })].map(quote).join(", ")})`;
  });
  const names = ["id", ...Object.keys(dimensions)].join(", ");
  for (let at = 0; at < series.length; at += seriesAtOnce) {
    await run(
      `insert into evaluation_series (${names}) values ${series.slice(at, at + seriesAtOnce).join(", ")}`,
    );
  }
  // SQLite would look at all results of an evaluator for each series of a run: as often as there are runs.
  const isSqlite = database === "SQLite";
  if (isSqlite)
    await run(`create index filling on evaluation_series (${Object.keys(dimensions).join(", ")})`);
  await run(`insert into evaluation_counts (series_id, day, verdict, score_mille, count, score_sum, score_sum_of_squares)
    select series_id, day, verdict, thousandths, count(*), sum(score), sum(score * score) from (
      select series.id as series_id, created_at / ${microsPerDay} as day, ${verdict} as verdict,
        coalesce(score_mille, -1) as thousandths, coalesce(counted_score, 0) as score
      from evaluation_results as result ${isSqlite ? "cross " : ""}join evaluation_series as series
        on ${sources.map(([name, source]) => `series.${name} = ${source}`).join(" and ")}) as every_result
    group by series_id, day, verdict, thousandths`);
  if (isSqlite) await run("drop index filling");
};

/** Sets the last number that the write path would have taken: results up to it are counted by tag. */
export const setLastNumber = async (
  { run }: Connection,
  size: number,
  database: DatabaseName,
): Promise<void> =>
  await run(
    database === "PostgreSQL"
      ? `select setval('${resultNumbers}', ${size})`
      : `update evaluation_clock set last_id = ${size}, last_created_at = ${endMicros}`,
  );

/** Sets the counts and times that the write path would have stored. */
export const fillRollup = async (connection: Connection, database: DatabaseName): Promise<void> => {
  await countSeries(connection, true, database);
  await countSeries(connection, false, database);
  await connection.run(`insert into evaluation_times (stretch, earliest, latest)
    select id / ${numbersPerStretch}, min(created_at), max(created_at) from evaluation_results group by 1`);
};
