import { numbersPerStretch, resultNumbers } from "../../../packages/server/src/storage/result-numbers.ts";
import { endMicros } from "./distribution.ts";

const microsPerDay = 86_400_000_000;

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

/** Each result counts in its run's series and in the series of all runs. */
const statementsOf = (spansRuns: boolean): string[] => {
  const dimensions = {
    ...everyDimension,
    spans_runs: spansRuns ? "1" : "0",
    run_id: spansRuns ? "''" : "coalesce(result.run_id, '')",
  };
  const names = Object.keys(dimensions).join(", ");
  const isOfSeries = Object.entries(dimensions)
    .map(([name, source]) => `series.${name} = ${source}`)
    .join(" and ");
  return [
    `insert into evaluation_series (id, ${names})
    select 'series-${dimensions.spans_runs}-' || row_number() over (), ${names} from (
      select distinct ${Object.entries(dimensions)
        .map(([name, source]) => `${source} as ${name}`)
        .join(", ")} from evaluation_results as result) as every_series`,
    `insert into evaluation_counts (series_id, day, verdict, score_mille, count, score_sum, score_sum_of_squares)
    select series_id, day, verdict, thousandths, count(*), sum(score), sum(score * score) from (
      select series.id as series_id, created_at / ${microsPerDay} as day, ${verdict} as verdict,
        coalesce(score_mille, -1) as thousandths, coalesce(counted_score, 0) as score
      from evaluation_results as result join evaluation_series as series on ${isOfSeries}) as every_result
    group by series_id, day, verdict, thousandths`,
  ];
};

/** Sets the counts, times and last number that the write path would have stored. */
export const rollupStatements = (size: number, database: "SQLite" | "PostgreSQL"): string[] => [
  ...statementsOf(true),
  ...statementsOf(false),
  `insert into evaluation_times (stretch, earliest, latest)
  select id / ${numbersPerStretch}, min(created_at), max(created_at) from evaluation_results group by 1`,
  database === "PostgreSQL"
    ? `select setval('${resultNumbers}', ${size})`
    : `update evaluation_clock set last_id = ${size}, last_created_at = ${endMicros}`,
];
