import { Readable } from "node:stream";
import type {
  Comparison,
  DatasetSample,
  Params,
  Run,
  RunTarget,
  World,
  WorldConfig,
} from "@presage/contract";
import { formatPoints } from "@presage/contract/describe-runs";
import { PresageError } from "@presage/sdk";
import { ServiceError } from "../../platform/errors.ts";
import { printable } from "../../platform/words.ts";
import { isRecords } from "../../worlds/world.ts";
import { CommandError, printNotice } from "../command.ts";
import { readEvaluator } from "../evaluate/evaluators.ts";
import type { RunConnection } from "../open-connection.ts";
import { followRun } from "../run.ts";
import { printComparison } from "../run-tables.ts";
import { linesOf, samplesOf } from "./samples.ts";

type Candidate = Comparison["evaluators"][number]["candidates"][number];

/** What a run is made on. */
interface Side {
  dataset_id: string;
  revision: number;
}

/**
 * Runs a world on recorded samples and beside it what is simpler: no change, the most frequent answer, its records alone, and its
 * model without examples. Prints their differences, and what they come to.
 */
export async function evaluateWorld(
  connection: RunConnection,
  world: World,
  { evaluator, server }: { evaluator: string; server: string | undefined },
): Promise<void> {
  const { examples } = world.pinned;
  if (examples === null) throw new CommandError("--evaluate needs --examples: there is nothing to predict");
  const { dataset_id, revision } = examples;
  const reference = `${world.name}@${world.revision}`;
  const { model } = world.config;
  // First what may be refused, before anything is paid for.
  const records = isRecords(model) ? undefined : await recordsOf(connection, world);
  const side = (await testSide(connection, examples)) ?? { dataset_id, revision };
  const run = async (what: string, target: RunTarget, on: Side, params?: Params): Promise<Run> => {
    const name = what === "" ? reference : what;
    const tags = { world: reference };
    printNotice(`${name}:`);
    const evaluators = [readEvaluator(evaluator)];
    const made = await connection.createRun(
      { name, target, tags, ...on, ...(params && { params }) },
      evaluators,
    );
    connection.start(made.id);
    const ended = await followRun(connection, made, server);
    if (ended.status !== "finished") throw new CommandError(`The run ${name} is ${ended.status}.`);
    return ended;
  };
  const ofWorld = await run("", { world: reference }, side);
  const others = [
    await run("no change", { baseline: "no-change" }, side),
    // It learns from the other trajectories, which the side that tests does not have.
    await run("most frequent", { baseline: "most-frequent" }, { dataset_id, revision }),
  ];
  if (records === undefined) {
    printComparison(await compare(connection, [ofWorld, ...others]));
    return;
  }
  const alone = await run("records", { world: records }, side);
  const asked = isRecords(model) ? undefined : model;
  const deployment = asked?.deployment ?? (await connection.findDefaultDeployment());
  const bare = await run("model alone", { deployment }, side, { temperature: 0, ...asked?.params });
  const comparison = await compare(connection, [ofWorld, ...others, alone, bare]);
  printComparison(comparison);
  const found = (id: string) => comparison.evaluators[0]?.candidates.find(({ run_id }) => run_id === id);
  process.stdout.write(`\n${describeExamplesWorth({ bare: found(bare.id), records: found(alone.id) })}\n`);
}

async function compare({ call }: RunConnection, runs: readonly Run[]): Promise<Comparison> {
  return await call(({ comparisons }) => comparisons.get(runs.map(({ id }) => id)));
}

const isTest = ({ tags }: Pick<DatasetSample, "tags">) => tags?.split === "test";

/** The samples with the tag `split=test`, as a dataset of their own; undefined if there are none. */
async function testSide(
  connection: RunConnection,
  { dataset_id, dataset: named, revision }: NonNullable<World["pinned"]["examples"]>,
): Promise<Side | undefined> {
  const wanted = { dataset: dataset_id, revision };
  const [first] = await samplesOf(connection, wanted, { most: 1, isWanted: isTest });
  if (first === undefined) {
    printNotice("No sample has the tag split=test: each one is predicted without its own trajectory.");
    return undefined;
  }
  const name = `${named}-test`;
  const all = await connection.call(({ datasets }) => datasets.list());
  const description = `${mark}: the samples of ${named} with the tag split=test.`;
  const known = all.find((one) => one.name === name);
  if (known !== undefined && known.description !== description) throw notMade("dataset", name);
  const dataset = known ?? (await connection.call(({ datasets }) => datasets.create({ name, description })));
  const stream = Readable.toWeb(Readable.from(testLines(connection, wanted)));
  const uploaded = await connection.call(({ datasets }) =>
    datasets.upload(dataset.id, stream as ReadableStream<Uint8Array>, { format: "presage" }),
  );
  printNotice(`The samples with the tag split=test are revision ${uploaded.revision} of ${printable(name)}.`);
  return { dataset_id: dataset.id, revision: uploaded.revision };
}

async function* testLines(
  connection: RunConnection,
  wanted: { dataset: string; revision: number },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const line of linesOf(connection, wanted))
    if (isTest(JSON.parse(line))) yield encoder.encode(`${line}\n`);
}

/** How the descriptions of what is made here begin. Nothing else is changed. */
const mark = "Made by presage worlds create --evaluate";

function notMade(kind: "dataset" | "world", name: string): CommandError {
  return new CommandError(
    `The ${kind} ${printable(name)} was not made by --evaluate, which needs its name: delete it, or give the new world another name or dataset.`,
  );
}

/** The same world without its model, archived so that lists do not show it. */
async function recordsOf({ call }: RunConnection, { name, config, pinned }: World): Promise<string> {
  const ofRecords = `${name.slice(0, 55)}-records`;
  const examples = config.examples && { ...config.examples, revision: pinned.examples?.revision };
  const description = `${mark}: the records of ${name} alone.`;
  const wanted: WorldConfig = { ...config, description, examples, model: { kind: "retrieval" } };
  const made = await call(async ({ worlds }) => {
    const known = await worlds.get(ofRecords).catch(unlessFound);
    if (known !== undefined && known.config.description !== description) throw notMade("world", ofRecords);
    const world = known
      ? await worlds.revise(ofRecords, wanted)
      : await worlds.create({ name: ofRecords, ...wanted });
    if (!world.archived) await worlds.revise(ofRecords, { archived: true });
    return world;
  });
  return `${made.name}@${made.revision}`;
}

function unlessFound(error: unknown): undefined {
  const isMissing =
    (error instanceof ServiceError && error.code === "not_found") ||
    (error instanceof PresageError && error.status === 404);
  if (!isMissing) throw error;
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
