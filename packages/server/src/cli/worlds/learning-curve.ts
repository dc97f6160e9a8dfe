import type { Comparison, DatasetSample, Run, World } from "@presage/contract";
import { filterOf } from "../../worlds/find-world.ts";
import { isExample } from "../../worlds/world.ts";
import { CommandError, printNotice } from "../command.ts";
import type { RunConnection } from "../open-connection.ts";
import { printTable } from "../run-tables.ts";
import { linesOf } from "./samples.ts";
import { copySamples, varyWorld } from "./variants.ts";

/** Of the trajectories. All of them can be drawn in one way only. */
const shares = [0.1, 0.2, 0.5];
const draws = [1, 2, 3];

interface Point {
  share: number;
  trajectories: number;
  examples: number;
  runs: Run[];
}

interface CurveOptions {
  /** Of the world, with all of its examples. */
  ofAll: Run;
  /** Runs a world on the same samples. */
  runWorld(name: string, reference: string, tags: Record<string, string>): Promise<Run>;
}

/** Runs a world with some of its trajectories as examples, and prints how right it is with more of them. */
export async function measureCurve(
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
  // The runs say what came of them.
  await call(({ worlds }) => worlds.delete(varied));
  await call(({ datasets }) => datasets.delete(copied));
  points.push({ share: 1, trajectories: ids.length, examples: examples.count, runs: [ofAll] });
  await printCurve(connection, points);
}

/** Those that examples are of. */
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

/** The same each time, and of one draw the fewer among the more: what differs is how many there are. */
function drawSome(ids: readonly string[], draw: number, count: number): Set<string> {
  const placeOf = (id: string) => new Bun.CryptoHasher("sha256").update(`${draw} ${id}`).digest("hex");
  const placed = ids.map((id) => [placeOf(id), id] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return new Set(placed.slice(0, count).map(([, id]) => id));
}

async function printCurve({ call }: RunConnection, points: readonly Point[]): Promise<void> {
  const rows: (Point & { rates: number[] })[] = [];
  for (const point of points) {
    const reports = await Promise.all(point.runs.map(({ id }) => call(({ runs }) => runs.report(id))));
    const rates = reports.map(({ evaluators: [first] }) => first?.pass_rate ?? first?.mean ?? Number.NaN);
    rows.push({ ...point, rates });
  }
  const meanOf = (rates: readonly number[]) => rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  process.stdout.write("\n");
  printTable(
    [
      { heading: "trajectories", text: ({ trajectories }) => String(trajectories), align: "right" },
      { heading: "examples", text: ({ examples }) => String(examples), align: "right" },
      { heading: "mean", text: ({ rates }) => meanOf(rates).toFixed(3), align: "right" },
      { heading: "of each draw", text: ({ rates }) => rates.map((rate) => rate.toFixed(3)).join("  ") },
    ],
    rows,
  );
  const [fewer, all] = points.slice(-2);
  const runs = [...(all?.runs ?? []), ...(fewer?.runs ?? [])];
  const compared = await call(({ comparisons }) => comparisons.get(runs.map(({ id }) => id)));
  const share = `${fewer?.trajectories} of the ${all?.trajectories} trajectories`;
  printNotice(describeCurve(share, compared.evaluators[0]?.candidates ?? []));
}

/** Whether more records are likely to help, by what some of them did beside all. */
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
