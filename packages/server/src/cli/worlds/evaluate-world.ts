import type { Comparison, DatasetSample, Params, Run, RunTarget, World } from "@presage/contract";
import { formatPoints } from "@presage/contract/describe-runs";
import { printable } from "../../platform/words.ts";
import { isRecords } from "../../worlds/world.ts";
import { CommandError, printNotice } from "../command.ts";
import { readEvaluator } from "../evaluate/evaluators.ts";
import type { RunConnection } from "../open-connection.ts";
import { findDefaultDeployment, followRun } from "../run.ts";
import { printComparison } from "../run-tables.ts";
import { measureCurve } from "./learning-curve.ts";
import { samplesOf } from "./samples.ts";
import { copySamples, type Side, varyWorld } from "./variants.ts";

type Candidate = Comparison["evaluators"][number]["candidates"][number];

/** How a world is measured, as Commander reads it. */
export interface EvaluateFlags {
  evaluator: string;
  curve?: boolean | undefined;
  server?: string | undefined;
}

/**
 * Runs a world on recorded samples and beside it what is simpler: no change, the most frequent answer, its records alone, and its
 * model without examples. Prints their differences, and what they come to.
 */
export async function evaluateWorld(
  connection: RunConnection,
  world: World,
  { evaluator, curve, server }: EvaluateFlags,
): Promise<void> {
  const { examples } = world.pinned;
  if (examples === null) throw new CommandError("There is nothing to predict: the world has no --examples");
  const { dataset_id, revision } = examples;
  const reference = `${world.name}@${world.revision}`;
  const { model } = world.config;
  // First what may be refused, before anything is paid for.
  const records = isRecords(model) ? undefined : await recordsOf(connection, world);
  const side = (await testSide(connection, examples)) ?? { dataset_id, revision };
  const run = async (
    name: string,
    target: RunTarget,
    { on = side, params, tags }: { on?: Side; params?: Params; tags?: Record<string, string> } = {},
  ): Promise<Run> => {
    printNotice(`${name}:`);
    const wanted = { name, target, tags: { world: reference, ...tags }, ...on, ...(params && { params }) };
    const made = await connection.createRun(wanted, [readEvaluator(evaluator)]);
    connection.start(made.id);
    const ended = await followRun(connection, made, server);
    if (ended.status !== "finished") throw new CommandError(`The run ${name} is ${ended.status}.`);
    return ended;
  };
  const ofWorld = await run(reference, { world: reference });
  const compared = [
    ofWorld,
    await run("no change", { baseline: "no-change" }),
    // It learns from the other trajectories, which the side that tests does not have.
    await run("most frequent", { baseline: "most-frequent" }, { on: { dataset_id, revision } }),
  ];
  if (records !== undefined) {
    const asked = isRecords(model) ? undefined : model;
    const deployment = asked?.deployment ?? (await findDefaultDeployment(connection));
    compared.push(
      await run("records", { world: records }),
      await run("model alone", { deployment }, { params: { temperature: 0, ...asked?.params } }),
    );
  }
  const comparison = await connection.call(({ comparisons }) =>
    comparisons.get(compared.map(({ id }) => id)),
  );
  printComparison(comparison);
  if (records !== undefined) {
    const [alone, bare] = compared
      .slice(-2)
      .map(({ id }) => comparison.evaluators[0]?.candidates.find(({ run_id }) => run_id === id));
    process.stdout.write(`\n${describeExamplesWorth({ bare, records: alone })}\n`);
  }
  if (curve)
    await measureCurve(connection, world, {
      ofAll: ofWorld,
      runWorld: (name, of, tags) => run(name, { world: of }, { tags }),
    });
}

const isTest = ({ tags }: Pick<DatasetSample, "tags">) => tags?.split === "test";

/** The samples with the tag `split=test`, as a dataset of their own; undefined if there are none. */
async function testSide(
  connection: RunConnection,
  { dataset_id, dataset, revision }: NonNullable<World["pinned"]["examples"]>,
): Promise<Side | undefined> {
  const [first] = await samplesOf(
    connection,
    { dataset: dataset_id, revision },
    { most: 1, isWanted: isTest },
  );
  if (first === undefined) {
    printNotice("No sample has the tag split=test: each one is predicted without its own trajectory.");
    return undefined;
  }
  const name = `${dataset}-test`;
  const what = `the samples of ${dataset} with the tag split=test`;
  const side = await copySamples(connection, { dataset_id, revision }, { name, what, isWanted: isTest });
  printNotice(`The samples with the tag split=test are revision ${side.revision} of ${printable(name)}.`);
  return side;
}

async function recordsOf(connection: RunConnection, world: World): Promise<string> {
  const { name, revision } = await varyWorld(connection, world, {
    suffix: "-records",
    what: `the records of ${world.name} alone`,
    changes: { model: { kind: "retrieval" } },
  });
  return `${name}@${revision}`;
}

type Compared = Pick<Candidate, "outcome" | "difference" | "interval">;

/** What examples are worth, and whether the model is. Both are compared with the world, whose model is shown its examples. */
export function describeExamplesWorth({
  bare,
  records,
}: {
  bare: (Compared & Pick<Candidate, "min_detectable">) | undefined;
  records: Compared | undefined;
}): string {
  if (bare === undefined || bare.difference === null)
    return "Nothing can be said: no sample has both verdicts.";
  return [describeExamples({ ...bare, difference: bare.difference }), ...describeRecords(records)].join(" ");
}

function describeExamples({
  outcome,
  difference,
  interval,
  min_detectable,
}: Compared & Pick<Candidate, "min_detectable"> & { difference: number }): string {
  const points = `${formatPoints(-difference)} points`;
  const range =
    interval === null ? "" : ` (${formatPoints(-interval.upper)} to ${formatPoints(-interval.lower)})`;
  if (outcome === "worse") return `Examples help: ${points}${range}.`;
  if (outcome === "better") return `Examples hurt: ${points}${range}.`;
  const seen =
    min_detectable === null
      ? ""
      : ` One of ${formatPoints(min_detectable).slice(1)} points would have been seen.`;
  return `No difference between the model with examples and without was found.${seen}`;
}

/** Within this, records count as good as the model. That no difference was found would not show it. */
const margin = 0.02;

function describeRecords(records: Compared | undefined): string[] {
  if (records === undefined || records.difference === null) return [];
  const { outcome, difference, interval } = records;
  const range =
    interval === null ? "" : ` (${formatPoints(interval.lower)} to ${formatPoints(interval.upper)})`;
  if (interval !== null && interval.lower >= -margin && interval.upper <= margin)
    return [
      `The records alone are as good as the model, within ${100 * margin} points${range}: you may not need it.`,
    ];
  if (outcome === "better")
    return [`The records alone are better than the model: ${formatPoints(difference)} points${range}.`];
  return outcome === "worse" ? [] : ["No difference between the records alone and the model was found."];
}
