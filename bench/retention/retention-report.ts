import { type Goal, judgeDatabases, showCount, showTimes, tableOf } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  fullRetentionPlan,
  quickRetentionPlan,
  type RetentionPlan,
  type RetentionSample,
  runRetention,
} from "./retention.ts";

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

/** 2.5 million in an hour. */
const leastPerSecond = 2_500_000 / 3_600;
const mostTimes = 2;
const mostTransactionS = 0.05;

const perSecond = ({ deleted, deletedInS }: RetentionSample): number => deleted / deletedInS;
const times = ({ before, beside }: RetentionSample): number => beside.p99Ms / before.p99Ms;

const judgeRetention = (samples: readonly RetentionSample[], { results }: RetentionPlan): Goal[] => {
  const isWhole = results >= fullRetentionPlan.results;
  return [
    judgeDatabases(
      `Results that are too old are deleted at ${leastPerSecond.toFixed(0)}/s or faster`,
      samples,
      isWhole,
      (sample) => perSecond(sample) >= leastPerSecond,
      (sample) => `${perSecond(sample).toFixed(0)}/s`,
    ),
    judgeDatabases(
      `Meanwhile the p99 of storing an evaluation is at most ${mostTimes} times the earlier one`,
      samples,
      isWhole,
      (sample) => times(sample) <= mostTimes,
      (sample) => showTimes(times(sample)),
    ),
    // On PostgreSQL, writers do not wait for these transactions.
    ...samples
      .filter(({ database }) => database === "SQLite")
      .map(({ longestAtMostS }) => ({
        text: `On SQLite no transaction of it keeps other writes waiting for longer than ${mostTransactionS * 1_000} ms`,
        measured: `at most ${longestAtMostS * 1_000} ms`,
        met: longestAtMostS <= mostTransactionS,
      })),
  ];
};

const writeRetention = (
  samples: readonly RetentionSample[],
  { results, perSecond: rate, beforeS, mostS }: RetentionPlan,
): string => {
  const show = (read: (sample: RetentionSample) => number) => (sample: RetentionSample) =>
    read(sample).toFixed(1);
  const grown = (phase: "before" | "beside" | "after") =>
    show((sample) => sample[phase].grownBytes / 1_000 / sample[phase].stored);
  return `
${showCount(results)} results, the older half of which is deleted (\`PRESAGE_RETENTION\`) for ${duration(mostS)} at most while ${rate} evaluations a second are stored; before it and after it, the same for ${beforeS} s. Files are those
of the tables of results (SQLite: the file), and of PostgreSQL's they are vacuumed after the deletion, as autovacuum does: where space is used again, they hardly grow.

${tableOf(samples, [
  ["database", ({ database }) => database],
  ["deleted", ({ deleted }) => showCount(deleted)],
  ["deleted/s", (sample) => perSecond(sample).toFixed(0)],
  ["p50 before, ms", show(({ before }) => before.p50Ms)],
  ["p50 beside, ms", show(({ beside }) => beside.p50Ms)],
  ["p99 before, ms", show(({ before }) => before.p99Ms)],
  ["p99 beside, ms", show(({ beside }) => beside.p99Ms)],
  ["longest before, ms", show(({ before }) => before.maxMs)],
  ["longest beside, ms", show(({ beside }) => beside.maxMs)],
  ["longest transaction, ms", ({ longestAtMostS }) => `at most ${longestAtMostS * 1_000}`],
  ["files grew before, KB a result", grown("before")],
  ["beside", grown("beside")],
  ["after", grown("after")],
])}
`;
};

const duration = (seconds: number): string =>
  seconds >= 120 ? `${(seconds / 60).toFixed(0)} minutes` : `${seconds} s`;
