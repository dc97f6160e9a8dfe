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
import { nothingDetectable } from "@presage/contract/describe-comparison";
import { formatPoints, formatPointsApart } from "@presage/contract/describe-runs";
import { PresageError } from "@presage/sdk";
import { ServiceError } from "../../platform/errors.ts";
import { percent, printable, sha256Hex } from "../../platform/words.ts";
import { filterOf } from "../../worlds/find-world.ts";
import { isExample, isRecords } from "../../worlds/world.ts";
import { CommandError, printNotice } from "../command.ts";
import { readEvaluator } from "../evaluate/evaluators.ts";
import type { RunConnection } from "../open-connection.ts";
import { findDefaultDeployment, followRun } from "../run.ts";
import { printComparison, printTable } from "../run-tables.ts";
import { linesOf, samplesOf } from "./samples.ts";

/** The samples that a run is made on. */
interface Side {
  dataset_id: string;
  revision: number;
}

/** The start of the descriptions of everything created to measure a world. Nothing else is ever changed. */
const mark = "Made by presage worlds create --evaluate";

function notMade(kind: "dataset" | "world", name: string): CommandError {
  return new CommandError(
    `The ${kind} ${printable(name)} was not made by --evaluate, which needs its name: delete it, or give the new world another name or dataset.`,
  );
}

interface Wanted {
  name: string;
  /** A description of the samples for people. */
  what: string;
  isWanted: (sample: DatasetSample) => boolean;
}

/** Copies some samples of a revision into a dataset of their own. */
async function copySamples(
  connection: RunConnection,
  { dataset_id: dataset, revision }: Side,
  { name, what, isWanted }: Wanted,
): Promise<Side> {
  const { call } = connection;
  const description = `${mark}: ${what}.`;
  const known = (await call(({ datasets }) => datasets.list())).find((one) => one.name === name);
  if (known !== undefined && known.description !== description) throw notMade("dataset", name);
  const { id } = known ?? (await call(({ datasets }) => datasets.create({ name, description })));
  async function* lines(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const encoder = new TextEncoder();
    for await (const line of linesOf(connection, { dataset, revision }))
      if (isWanted(JSON.parse(line))) yield encoder.encode(`${line}\n`);
  }
  const stream = Readable.toWeb(Readable.from(lines())) as ReadableStream<Uint8Array>;
  const uploaded = await call(({ datasets }) => datasets.upload(id, stream, { format: "presage" }));
  return { dataset_id: id, revision: uploaded.revision };
}

interface Variant {
  suffix: string;
  /** A description of the variant for people. */
  what: string;
  changes: WorldConfig;
}

/** A copy of the world with some changes, archived so that lists do not show it. It answers whatever its confidence. */
async function varyWorld(
  { call }: RunConnection,
  { name, config, pinned }: World,
  { suffix, what, changes }: Variant,
): Promise<World> {
  const varied = `${name.slice(0, 63 - suffix.length)}${suffix}`;
  const description = `${mark}: ${what}.`;
  const { methods, samples } = config.confidence ?? {};
  const wanted: WorldConfig = {
    ...config,
    examples: config.examples && { ...config.examples, revision: pinned.examples?.revision },
    confidence: methods && { methods, samples },
    ...changes,
    description,
  };
  const known = await call(({ worlds }) => worlds.get(varied)).catch(unlessFound);
  if (known !== undefined && known.config.description !== description) throw notMade("world", varied);
  const world = await call(({ worlds }) =>
    known ? worlds.revise(varied, wanted) : worlds.create({ name: varied, ...wanted }),
  );
  if (!world.archived) await call(({ worlds }) => worlds.revise(varied, { archived: true }));
  return world;
}

function unlessFound(error: unknown): undefined {
  const isMissing =
    (error instanceof ServiceError && error.code === "not_found") ||
    (error instanceof PresageError && error.status === 404);
  if (!isMissing) throw error;
}

/** Shares of the trajectories. Drawing all of them is possible in only one way. */
const shares = [0.1, 0.2, 0.5];
const draws = [1, 2, 3];

interface Point {
  share: number;
  trajectories: number;
  examples: number;
  runs: Run[];
}

interface CurveOptions {
  /** The run of the world with all of its examples. */
  ofAll: Run;
  /** Runs a world on the same samples. */
  runWorld(name: string, reference: string, tags: Record<string, string>): Promise<Run>;
}

/** Runs a world with some of its trajectories as examples, and prints how accuracy grows with their number. */
async function measureCurve(
  connection: RunConnection,
  world: World,
  { ofAll, runWorld }: CurveOptions,
): Promise<void> {
  const { examples } = world.pinned;
  const ids = await readTrajectories(connection, world);
  if (examples === null || ids.length < 2)
    throw new CommandError("--curve needs examples of two trajectories or more");
  const { call } = connection;
  const points: Point[] = [];
  let [varied, copied] = ["", ""];
  for (const share of shares) {
    const trajectories = Math.ceil(share * ids.length);
    if (points.some((one) => one.trajectories === trajectories)) continue;
    const point: Point = { share, trajectories, examples: 0, runs: [] };
    points.push(point);
    for (const draw of draws) {
      const drawn = drawSome(ids, draw, trajectories);
      const some = await copySamples(connection, examples, {
        name: `${examples.dataset}-curve`,
        what: `some trajectories of ${examples.dataset}`,
        isWanted: ({ trajectory_id }) => drawn.has(trajectory_id),
      });
      copied = some.dataset_id;
      const { name, revision, pinned } = await varyWorld(connection, world, {
        suffix: "-curve",
        what: `${world.name} with some of its examples`,
        changes: { examples: { ...world.config.examples, dataset: copied, revision: some.revision } },
      });
      varied = name;
      point.examples = Math.max(point.examples, pinned.examples?.count ?? 0);
      const tags = { share: String(share), draw: String(draw) };
      const run = `${trajectories} trajectories, draw ${draw}`;
      point.runs.push(await runWorld(run, `${name}@${revision}`, tags));
    }
  }
  // The runs keep the outcome.
  await call(({ worlds }) => worlds.delete(varied));
  await call(({ datasets }) => datasets.delete(copied));
  points.push({ share: 1, trajectories: ids.length, examples: examples.count, runs: [ofAll] });
  await printCurve(connection, points);
}

/** The trajectories that the examples come from. */
async function readTrajectories(connection: RunConnection, { config, pinned }: World): Promise<string[]> {
  if (!config.examples || pinned.examples === null) return [];
  const { dataset_id: dataset, revision } = pinned.examples;
  const filter = filterOf(config.examples);
  const found = new Set<string>();
  for await (const line of linesOf(connection, { dataset, revision })) {
    const sample = JSON.parse(line) as DatasetSample;
    if (isExample(sample, filter)) found.add(sample.trajectory_id);
  }
  return [...found];
}

/** Deterministic, and smaller draws are part of larger ones: only the number of trajectories differs. */
function drawSome(ids: readonly string[], draw: number, count: number): Set<string> {
  const placeOf = (id: string) => sha256Hex(`${draw} ${id}`);
  const placed = ids.map((id) => [placeOf(id), id] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return new Set(placed.slice(0, count).map(([, id]) => id));
}

async function printCurve({ call }: RunConnection, points: readonly Point[]): Promise<void> {
  const rows: (Point & { rates: number[] })[] = [];
  for (const point of points) {
    const reports = await Promise.all(point.runs.map(({ id }) => call(({ runs }) => runs.report(id))));
    const rates = reports.flatMap(({ evaluators: [first] }) => first?.pass_rate ?? []);
    rows.push({ ...point, rates });
  }
  const meanOf = (rates: readonly number[]) =>
    rates.length === 0 ? "–" : percent(rates.reduce((sum, rate) => sum + rate, 0) / rates.length);
  process.stdout.write("\n");
  printTable(
    [
      { heading: "trajectories", text: ({ trajectories }) => String(trajectories), align: "right" },
      { heading: "examples", text: ({ examples }) => String(examples), align: "right" },
      { heading: "pass rate", text: ({ rates }) => meanOf(rates), align: "right" },
      { heading: "of each draw", text: ({ rates }) => rates.map(percent).join("  ") },
    ],
    rows,
  );
  const [fewer, all] = points.slice(-2);
  const runs = [...(all?.runs ?? []), ...(fewer?.runs ?? [])];
  const compared = await call(({ comparisons }) => comparisons.get(runs.map(({ id }) => id)));
  const share = `${fewer?.trajectories} of the ${all?.trajectories} trajectories`;
  printNotice(describeCurve(share, compared.evaluators[0]?.candidates ?? []));
}

/** Whether more records are likely to help, judged by how some of them did compared with all. */
export function describeCurve(
  some: string,
  draws: readonly Pick<Comparison["evaluators"][number]["candidates"][number], "outcome">[],
): string {
  const count = (wanted: string) => draws.filter(({ outcome }) => outcome === wanted).length;
  const [worse, better] = [count("worse"), count("better")];
  if (worse + better === 0)
    return `No difference between ${some} and all was found: more of them may not help.`;
  const likely = worse === draws.length ? "more are likely to help" : "more may help";
  const outcomes = `worse in ${worse} of ${draws.length} draws, and better in ${better}`;
  return `With ${some} it is ${outcomes}: ${better === 0 ? likely : "whether more help is open"}.`;
}

type Candidate = Comparison["evaluators"][number]["candidates"][number];

/** How to measure a world, as Commander reads it. */
export interface EvaluateFlags {
  evaluator: string;
  curve?: boolean | undefined;
  server?: string | undefined;
}

/**
 * Runs a world on recorded samples, and next to it simpler predictors: no change, the most frequent answer, its records alone, and
 * its model without examples. Prints their differences and a conclusion.
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
  // What may be refused comes first, before anything is paid for.
  const records = isRecords(model) ? undefined : await recordsOf(connection, world);
  const testing = await testSide(connection, examples);
  const side = testing ?? { dataset_id, revision };
  // Within one revision the baseline leaves out each sample's own trajectory, as the world does.
  const split = world.config.examples?.split ?? "test";
  const isApart = testing !== undefined && split !== "test";
  const from = isApart ? await copyExamples(connection, world) : undefined;
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
    await run(
      "most frequent",
      { baseline: "most-frequent", from },
      { on: from ? side : { dataset_id, revision } },
    ),
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

/** Copies a world's examples into a dataset of their own. */
async function copyExamples(connection: RunConnection, { name, config, pinned }: World): Promise<Side> {
  const { examples } = pinned;
  if (!config.examples || examples === null) throw new Error("A world that is measured has examples");
  const filter = filterOf(config.examples);
  const ofTrajectory = new Map<string, number>();
  return await copySamples(connection, examples, {
    name: `${name}-examples`,
    what: `the examples of ${name}`,
    isWanted(sample) {
      const before = ofTrajectory.get(sample.trajectory_id) ?? 0;
      const isWanted = isExample(sample, filter) && before < (filter.maxPerTrajectory ?? before + 1);
      if (!isWanted) return false;
      ofTrajectory.set(sample.trajectory_id, before + 1);
      return true;
    },
  });
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

/** What the examples are worth, and whether the model is worth it. Both variants are compared with the world, whose model sees examples. */
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
      : min_detectable >= 1
        ? ` ${nothingDetectable}.`
        : ` A true difference of ${formatPointsApart(min_detectable)} points would have been found in four of five cases.`;
  return `No difference between the model with examples and without was found.${seen}`;
}

/** Within this margin, records count as good as the model. Merely finding no difference would not show that. */
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
