import { type Goal, table } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  fullRetentionPlan,
  quickRetentionPlan,
  type RetentionPlan,
  type RetentionSample,
  runRetention,
} from "./retention.ts";

/** 2.5 million in an hour. */
const leastPerSecond = 2_500_000 / 3_600;
const mostTimes = 2;
const mostTransactionS = 0.05;

const perSecond = ({ deleted, deletedInS }: RetentionSample): number => deleted / deletedInS;
const times = ({ before, beside }: RetentionSample): number => beside.p99Ms / before.p99Ms;

const of = (samples: readonly RetentionSample[], show: (sample: RetentionSample) => string): string =>
  samples.map((sample) => `${sample.database} ${show(sample)}`).join(", ");

const judgeRetention = (samples: readonly RetentionSample[], { results }: RetentionPlan): Goal[] => {
  const isWhole = results >= fullRetentionPlan.results;
  return [
    {
      text: `Results that are too old are deleted at ${leastPerSecond.toFixed(0)}/s or faster`,
      measured: of(samples, (sample) => `${perSecond(sample).toFixed(0)}/s`),
      met: isWhole ? samples.every((sample) => perSecond(sample) >= leastPerSecond) : undefined,
    },
    {
      text: `Meanwhile the p99 of storing an evaluation is at most ${mostTimes} times the earlier one`,
      measured: of(samples, (sample) => `${times(sample).toFixed(2)} times`),
      met: isWhole ? samples.every((sample) => times(sample) <= mostTimes) : undefined,
    },
    ...judgeTransactions(samples.filter(({ database }) => database === "SQLite")),
  ];
};

/** On PostgreSQL nobody who stores waits for them. */
const judgeTransactions = (samples: readonly RetentionSample[]): Goal[] =>
  samples.map(({ longestAtMostS }) => ({
    text: `On SQLite no transaction of it keeps other writes waiting for longer than ${mostTransactionS * 1_000} ms`,
    measured: `at most ${longestAtMostS * 1_000} ms`,
    met: longestAtMostS <= mostTransactionS,
  }));

const writeRetention = (
  samples: readonly RetentionSample[],
  { results, perSecond: rate, beforeS, mostS }: RetentionPlan,
): string => {
  const figure = (milliseconds: number) => milliseconds.toFixed(1);
  return `
${results.toLocaleString("en-US")} results, the older half of which is deleted (\`PRESAGE_RETENTION\`) for ${duration(mostS)} at most while ${rate} evaluations a second are stored; before it and after it, the same for ${beforeS} s. Files are those
of the tables of results (SQLite: the file), and of PostgreSQL's they are vacuumed after the deletion, as autovacuum does: where space is used again, they hardly grow.

${table(
  [
    "database",
    "deleted",
    "deleted/s",
    "p50 before, ms",
    "p50 beside, ms",
    "p99 before, ms",
    "p99 beside, ms",
    "longest before, ms",
    "longest beside, ms",
    "longest transaction, ms",
    "files grew before, KB a result",
    "beside",
    "after",
  ],
  samples.map((sample) => [
    sample.database,
    sample.deleted.toLocaleString("en-US"),
    perSecond(sample).toFixed(0),
    figure(sample.before.p50Ms),
    figure(sample.beside.p50Ms),
    figure(sample.before.p99Ms),
    figure(sample.beside.p99Ms),
    figure(sample.before.maxMs),
    figure(sample.beside.maxMs),
    `at most ${sample.longestAtMostS * 1_000}`,
    ...[sample.before, sample.beside, sample.after].map(({ grownBytes, stored }) =>
      figure(grownBytes / 1_000 / stored),
    ),
  ]),
)}
`;
};

const duration = (seconds: number): string =>
  seconds >= 120 ? `${(seconds / 60).toFixed(0)} minutes` : `${seconds} s`;

export const retentionPart: Part = {
  title: "Retention",
  measure: async ({ group, upstream, quick, results, minutes, database }) => {
    const usual = quick ? quickRetentionPlan : fullRetentionPlan;
    const plan = {
      ...usual,
      results: results ?? usual.results,
      mostS: minutes === undefined ? usual.mostS : minutes * 60,
    };
    const samples = await runRetention(group, await upstream(), plan, database);
    const problems = samples.flatMap(({ problem }) => problem ?? []);
    return { goals: judgeRetention(samples, plan), problems, text: writeRetention(samples, plan) };
  },
};
