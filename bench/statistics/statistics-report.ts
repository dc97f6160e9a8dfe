import { type Goal, showCount, showPercent, table, tableOf } from "../lib/figures.ts";
import type { Part } from "../lib/part.ts";
import {
  type Coverage,
  coverageRows,
  type Method,
  measureRates,
  measureScores,
  rareKind,
  type Summary,
  summarize,
} from "./coverage.ts";
import type { Dependence } from "./designs.ts";
import { type ErrorRates, measureErrorRates, samePairs, wholeFailures } from "./error-rates.ts";
import {
  measureRepeatedSurvival,
  measureSurvival,
  repeats,
  type SurvivalCoverage,
  trajectories,
} from "./survival.ts";

const fullPlan = {
  coverageSets: 2000,
  /** The number of data sets of runs that are the same. */
  testSets: 2000,
  otherSets: 800,
  survivalSets: 1000,
  /** Each takes 2,000 resamples. */
  repeatedSets: 1000,
};
type StatisticsPlan = typeof fullPlan;
const quickPlan: StatisticsPlan = {
  coverageSets: 20,
  testSets: 20,
  otherSets: 20,
  survivalSets: 100,
  repeatedSets: 10,
};

/** Simulations with fixed seeds: the figures do not depend on the machine. */
export const statisticsPart: Part = {
  title: "Statistics: simulations",
  measure: async ({ quick }) => {
    const plan = quick ? quickPlan : fullPlan;
    const result = await runStatistics(plan);
    return { goals: judgeStatistics(result, plan), problems: [], text: writeStatistics(result, plan) };
  },
};

const runStatistics = async (plan: StatisticsPlan) => ({
  rates: measureRates(plan.coverageSets),
  scores: measureScores(plan.coverageSets),
  errorRates: await measureErrorRates(plan.testSets, plan.otherSets),
  survival: await measureSurvival(plan.survivalSets),
  repeatedSurvival: await measureRepeatedSurvival(plan.repeatedSets),
});
type StatisticsResult = Awaited<ReturnType<typeof runStatistics>>;

/** Allows two standard errors of a share, given the number of data sets. */
const judge = (
  text: string,
  shares: readonly number[],
  [least, most, sets]: readonly [number, number, number],
): Goal => {
  const [lowest, highest] = [Math.min(...shares), Math.max(...shares)];
  const allowed = (share: number) => 2 * Math.sqrt((share * (1 - share)) / sets);
  return {
    text,
    measured: `${showPercent(lowest)} to ${showPercent(highest)}`,
    met: shares.length > 0 && lowest >= least - allowed(least) && highest <= most + allowed(most),
  };
};

const judgeStatistics = (result: StatisticsResult, plan: StatisticsPlan): Goal[] => {
  const rates = result.rates.filter(({ kind }) => kind === "beta-binomial");
  const chosen = coverageRows.map(({ chosenBy, has }) =>
    Math.abs(summarize(rates.filter(has), "product")[0] - chosenBy[0]),
  );
  const covered = (coverage: readonly Coverage[], is: (one: Coverage) => boolean) =>
    coverage.filter(is).map((one) => one.covered.product);
  const tests = (is: (one: ErrorRates) => boolean, of: "flips" | "worse" | "survives" | "covered") =>
    result.errorRates.filter(is).map((one) => one[of]);
  const isSame = ({ pair }: ErrorRates) => samePairs.includes(pair);
  const failsWhole = ({ pair }: ErrorRates) => wholeFailures.includes(pair);
  const isMany = ({ trajectories, lengths, truth }: Coverage) =>
    trajectories === 60 && lengths.areLike && truth <= 0.8;
  const { coverageSets, testSets, otherSets, survivalSets } = plan;
  return [
    judge(
      "Intervals of rates of 0.5 and 0.8 cover in 93 to 97 % with 60 trajectories of like lengths",
      covered(rates, isMany),
      [0.93, 0.97, coverageSets],
    ),
    judge(
      "and in at least 91 % in all designs",
      covered(rates, () => true),
      [0.91, 1, coverageSets],
    ),
    judge("Mean coverages are at most 0.5 points from those that the formula was chosen by", chosen, [
      0,
      0.005,
      Number.POSITIVE_INFINITY,
    ]),
    judge(
      "Intervals of mean scores under 0.95, without a rare kind, cover in at least 91 %",
      covered(result.scores, ({ truth, kind }) => truth < 0.95 && kind !== rareKind),
      [0.91, 1, coverageSets],
    ),
    judge("Of runs that do not differ, flipped signs reject at most 6.3 % at 0.05", tests(isSame, "flips"), [
      0,
      0.063,
      testSets,
    ]),
    judge("and at most 3.5 % as worse, which is what fails a gate", tests(isSame, "worse"), [
      0,
      0.035,
      testSets,
    ]),
    judge(
      "Intervals of differences of independent runs cover in at least 93.5 %",
      tests(({ pair }) => pair.gain === undefined, "covered"),
      [0.935, 1, otherSets],
    ),
    judge(
      "Where B fails whole in 5 or 10 %, at most 7 % find a difference that survives one failure",
      tests(failsWhole, "survives"),
      [0, 0.07, otherSets],
    ),
    judge(
      "Intervals of the survival after 1, 5 and 10 steps cover in 92 to 98 %",
      result.survival.map((one) => one.covered),
      [0.92, 0.98, survivalSets],
    ),
  ];
};

const survivalTable = (rows: readonly SurvivalCoverage[]): string =>
  tableOf(rows, [
    ["divergence at each step", ({ chance }) => showPercent(chance)],
    ["steps", ({ step }) => String(step)],
    ["Presage", ({ covered }) => showPercent(covered)],
    ["naive", ({ naive }) => showPercent(naive)],
    ["no interval (estimate 1 or 0)", ({ without }) => showPercent(without)],
  ]);

const showSummary = ([mean, worst, width]: Summary): string =>
  `${(100 * mean).toFixed(1)} / ${(100 * worst).toFixed(0)}, ${width.toFixed(3)}`;

const rateTable = (rates: readonly Coverage[]): string => {
  const show = (method: Method) => (row: (typeof coverageRows)[number]) =>
    showSummary(summarize(rates.filter(row.has), method));
  return tableOf(coverageRows, [
    ["trajectories", ({ trajectories }) => String(trajectories)],
    ["lengths, rates", ({ name }) => name],
    ["before", show("before")],
    ["Presage", show("product")],
    ["when it was chosen", ({ chosenBy }) => showSummary(chosenBy)],
    ["naive", show("other")],
  ]);
};

const worstTable = (rates: readonly Coverage[]): string =>
  table(
    ["trajectories", "lengths", "true rate", "correlation", "before", "Presage"],
    rates
      .toSorted((one, other) => one.covered.product - other.covered.product)
      .slice(0, 6)
      .map(({ trajectories, lengths, truth, correlation, covered }) => [
        String(trajectories),
        lengths.name,
        String(truth),
        String(correlation),
        showPercent(covered.before),
        showPercent(covered.product),
      ]),
  );

/** A row for each of what `name` says, with the range of each figure. */
const rangeTable = <Item>(
  head: readonly string[],
  items: readonly Item[],
  name: (item: Item) => string,
  figures: readonly ((item: Item) => number)[],
): string =>
  table(
    head,
    [...Map.groupBy(items, name)].map(([key, some]) => [
      ...key.split("|"),
      ...figures.map((figure) => {
        const [least, most] = [Math.min(...some.map(figure)), Math.max(...some.map(figure))];
        return least === most ? showPercent(most) : `${(100 * least).toFixed(1)} to ${showPercent(most)}`;
      }),
    ]),
  );

const scoreTable = (scores: readonly Coverage[]): string =>
  rangeTable(
    ["trajectories", "scores", "before", "Presage", "from `lower_if_missing` on"],
    scores,
    ({ trajectories, kind }) => `${trajectories}|${kind}`,
    (["before", "product", "other"] as const).map((method) => (one) => one.covered[method]),
  );

const testTable = (errorRates: readonly ErrorRates[]): string =>
  rangeTable(
    ["runs", "trajectories", "lengths", "t test", "flipped signs", "as worse", "survives", "interval covers"],
    errorRates,
    ({ pair, trajectories, lengths }) =>
      `${pair.name}|${trajectories}|${lengths.areLike ? "like" : "one has half"}`,
    (["tTest", "flips", "worse", "survives", "covered"] as const).map((of) => (one) => one[of]),
  );

const writeStatistics = (result: StatisticsResult, plan: StatisticsPlan): string => {
  const ofKind = (dependence: Dependence) => result.rates.filter(({ kind }) => kind === dependence);
  return `
The seeds are fixed, so the figures are the same on every machine with the same Bun. What is
simulated are the functions that reports and comparisons call ([formulas](../docs/statistics.md)). Goals of coverage and of tests allow two standard errors of the simulation.

### Intervals of a pass rate
${showCount(plan.coverageSets)} simulated data sets of each design: true rates of 0.5, 0.8, 0.95 and 0.99, verdicts of a trajectory correlated by 0, 0.1, 0.3 and 0.5. Lengths that are like: 10 each,
geometric with mean 10, drawn from AppWorld's, from ScienceWorld's. Unlike: one trajectory with a third or half of the samples and the others with 10 each, log-normal (σ = 1). Each cell is the mean and
the worst coverage of its designs at 95 %, and the mean width. "Before" is Wilson's interval with CR1 and G − 1 degrees of freedom, "when it was chosen" another simulation of the formula
(800 data sets a design; lengths of these kinds, whose means are not known), naive is Wilson's for as many independent verdicts.

Each trajectory has its own rate (beta-binomial):

${rateTable(ofKind("beta-binomial"))}

Where it covers worst:

${worstTable(ofKind("beta-binomial"))}

Some verdicts are the trajectory's common one, the others independent, which is harder and has no goal. Where it covers worst:

${worstTable(ofKind("common verdict"))}

### Intervals of a mean score
The range over 10 each, geometric, ScienceWorld's, and one trajectory with half of the samples; ${showCount(plan.coverageSets)} data sets each, correlated by 0.3. "Before" is mean ± t · CR1.
A rare kind: one trajectory in twenty fails whole, the others score 0.8 to 1. No interval sees what did not happen; the last column is the same interval from \`lower_if_missing\` on.

${scoreTable(result.scores)}

### Tests of two runs
Shares of ${showCount(plan.testSets)} pairs of runs that are the same, and of ${showCount(plan.otherSets)} others, that a test at 5 % says differ; the range over 10 each, geometric and ScienceWorld's.
Runs are independent, each with its own rate in each trajectory (beta-binomial, 0.3); those that are "nowhere worse" or "better elsewhere" have the reference's verdicts and some more. Where B fails whole, it is as
good as the reference in truth. Intervals have a goal for independent runs. The t test of the trajectories' sums was used before. "Survives" is a difference that flipped signs find and one failure does not undo. Signs are all up to 12 trajectories,
10,000 random ones beyond.

${testTable(result.errorRates)}

### Survival of free-running trajectories
The share of ${showCount(plan.survivalSets)} simulated data sets in which the interval at 95 % contains the true survival (1 − p)^k after k steps, of those that have one. ${trajectories}
trajectories each, as long as recorded ones (drawn from both data sets), so that many are censored. The naive interval is Greenwood's on the plain scale.

${survivalTable(result.survival)}

With ${repeats} repeats of each trajectory, which has its own chance of a divergence (from a beta distribution); ${showCount(plan.repeatedSets)} data sets. Presage's interval is the
bootstrap's over trajectories; the naive one takes all repeats as independent.

${survivalTable(result.repeatedSurvival)}
`;
};
