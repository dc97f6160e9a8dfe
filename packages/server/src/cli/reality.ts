import {
  findRepeatedPair,
  type RealityCheck,
  type RealityCheckRequest,
  type RealityFigure,
  type RealityFigures,
  RealityPair,
} from "@presage/contract";
import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import { InvalidFieldError } from "../platform/errors.ts";
import { countOf, printable } from "../platform/words.ts";
import { CommandError, examples, onServer, printNotice } from "./command.ts";
import { configure } from "./config.ts";
import type { Connection, ConnectionOptions } from "./connect.ts";
import { checkFiles, checkLine, InvalidLineError, parseLine } from "./files.ts";
import { readUndecided, setGateExitCode, type Undecided } from "./gate.ts";
import { withConnection, withRunConnection } from "./open-connection.ts";
import { readLines } from "./read-lines.ts";
import { findSamples } from "./run.ts";
import { readNumber, readSeconds } from "./run-options.ts";
import { describeDifference, printTable, withInterval } from "./run-tables.ts";
import { atRight, type Column, printJsonOr } from "./terminal.ts";

interface RealityOptions extends ConnectionOptions {
  pairs?: string;
  episodes?: string;
  dataset?: string;
  name?: string;
  policy?: string;
  from?: string;
  timeout?: string;
  maxFalseSuccess?: string;
  undecided?: string;
  json?: boolean;
}

export function addRealityCommand(program: Command): void {
  program
    .command("reality [env]")
    .summary("say how often simulated success is real")
    .description(
      "say how often success in simulation is real, by all checks of an environment or by a new one",
    )
    .option("--pairs <file>", "JSON lines with task_id, simulated and real, to store and report")
    .option("--episodes <number>", "first replay this many ended episodes in the real environment")
    .option(
      "--dataset <file>",
      "have the environment play recorded trajectories first: a file, or a dataset's name",
    )
    .option("--name <name>", "the name of the new reality check")
    .option("--policy <label>", "only episodes of this policy")
    .option("--from <time>", "only episodes that were checked then or later, such as 2026-11-30T12:00:00Z")
    .option("--timeout <seconds>", "how long to wait; a new check then goes on, and the exit code is 1")
    .option(
      "--max-false-success <share>",
      "exit with 2 if more fail in reality, with 3 if that is undecided, by the 95 % interval",
    )
    .option("--undecided <pass|fail>", "exit with 0 or 2 where --max-false-success cannot be decided")
    .option("--json", "print the figures as JSON")
    .option(...onServer)
    .addHelpText(
      ...examples(
        "presage reality --pairs outcomes.jsonl --name step-400",
        "presage reality kitchen --max-false-success 0.1",
        "presage reality kitchen --episodes 200 --policy step-400",
        "presage reality kitchen --dataset transitions.jsonl",
      ),
    )
    .action((environment: string | undefined, options) => realityCommand(configure(), environment, options));
}

async function realityCommand(config: Config, environment: string | undefined, options: RealityOptions) {
  const limit = readLimit(options.maxFalseSuccess);
  const undecided = readUndecided(options.undecided);
  const timeoutS = options.timeout === undefined ? Infinity : readSeconds(options.timeout);
  refuseContradictions(environment, options);
  const pairs = options.pairs === undefined ? undefined : await readPairs(options.pairs);
  const { policy, from } = options;
  // Replays need a server, which may run on the configured database.
  const connect = (options.episodes ?? options.dataset) === undefined ? withConnection : withRunConnection;
  await connect(config, options, async (connection: Connection) => {
    const wanted = await readWanted(connection, environment, { ...options, pairs });
    const figures =
      wanted === undefined
        ? await connection.call((client) =>
            client.realityChecks.ofEnvironment(environment ?? "", {
              ...(policy !== undefined && { policy }),
              ...(from !== undefined && { from }),
            }),
          )
        : await check(
            connection,
            { ...wanted, environment, name: options.name, false_success_limit: limit },
            timeoutS * 1000,
          );
    printJsonOr(options.json, figures, printFigures);
    if (limit !== undefined) setExitCode(figures, limit, undecided);
  });
}

function refuseContradictions(
  environment: string | undefined,
  { pairs, episodes, dataset, name, policy, from, timeout, maxFalseSuccess, undecided }: RealityOptions,
): void {
  const sources = [pairs, episodes, dataset].filter((source) => source !== undefined);
  if (pairs === undefined && environment === undefined)
    throw new CommandError("reality needs an environment, or --pairs");
  if (sources.length > 1) throw new CommandError("Give one of --pairs, --episodes and --dataset");
  if (pairs !== undefined && name === undefined) throw new CommandError("--pairs needs --name");
  if (undecided !== undefined && maxFalseSuccess === undefined)
    throw new CommandError("--undecided needs --max-false-success");
  if (sources.length === 0 && name !== undefined)
    throw new CommandError("--name needs --pairs, --episodes or --dataset");
  if (sources.length > 0 && from !== undefined)
    throw new CommandError("--from is for the figures of checks that there are, not for a new one");
  if ((pairs ?? dataset) !== undefined && policy !== undefined)
    throw new CommandError("--policy is for episodes: a file has all of its policies");
  if (timeout !== undefined && (episodes ?? dataset) === undefined)
    throw new CommandError("--timeout needs --episodes or --dataset");
}

/** The new check that the options ask for; undefined if none. */
async function readWanted(
  connection: Connection,
  environment: string | undefined,
  { pairs, episodes, dataset, policy }: Omit<RealityOptions, "pairs"> & { pairs: RealityPair[] | undefined },
): Promise<RealityCheckRequest | undefined> {
  if (pairs !== undefined) return { pairs };
  if (dataset !== undefined) return { environment, ...(await findSamples(connection, dataset, {})) };
  if (episodes === undefined) return undefined;
  return { environment, episodes: { policy }, limit: readNumber("--episodes", episodes) };
}

/** Each look makes the server compute the figures of all episodes so far. */
const lookEveryMs = 5_000;
const lineEveryMs = 10_000;
/** Timers have no longer delays. */
const longestMs = 2 ** 31 - 1;

/** Makes a check, and waits until it ends. Reports progress every ten seconds. */
async function check({ call, replays }: Connection, wanted: RealityCheckRequest, timeoutMs: number) {
  if (!wanted.pairs && !replays)
    throw new CommandError(
      "Episodes and recordings are replayed by a server. Start one on this database, or name one with --server",
    );
  const made = await call(({ realityChecks }) => realityChecks.create(wanted)).catch((error: unknown) => {
    throw error instanceof InvalidFieldError ? new CommandError(`${error.message}.`) : error;
  });
  const { id } = made;
  const all = countOf(made.waiting + made.episodes, "episode");
  printNotice(`Reality check ${id}: ${printable(made.name)}, ${all}`);
  const doneOf = ({ episodes, failed }: RealityCheck) => `${episodes + failed}/${all}, ${failed} failed`;
  let latest = made;
  let lineAtMs = performance.now() + lineEveryMs;
  const onProgress = (found: RealityCheck) => {
    latest = found;
    if (performance.now() < lineAtMs) return;
    if (found.status === "running") printNotice(doneOf(found));
    lineAtMs += lineEveryMs;
  };
  const signal = AbortSignal.timeout(Math.min(timeoutMs, longestMs));
  const options = { pollEveryMs: lookEveryMs, onProgress, signal };
  const found = await call(({ realityChecks }) => realityChecks.waitUntilEnded(id, options)).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error;
      throw new CommandError(
        `The reality check ${id} goes on: ${doneOf(latest)}. Its figures: GET /v1/reality-checks/${id}`,
      );
    },
  );
  if (found.status !== "completed")
    throw new CommandError(
      `The reality check ${id} is ${found.status}${found.reason ? `: ${found.reason}` : "."}`,
    );
  if (found.failed > 0) printNotice(`${countOf(found.failed, "episode")} could not be replayed.`);
  return found.figures;
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (limit > 0 && limit < 1) return limit;
  throw new CommandError("--max-false-success takes a share between 0 and 1");
}

async function readPairs(file: string): Promise<RealityPair[]> {
  checkFiles(file, undefined);
  const pairs: RealityPair[] = [];
  const numbers: number[] = [];
  for await (const { number, text } of readLines(file)) {
    try {
      pairs.push(checkLine(RealityPair, parseLine(text)));
      numbers.push(number);
    } catch (error) {
      if (!(error instanceof InvalidLineError)) throw error;
      throw new CommandError(`${file}:${number}: ${error.message}`);
    }
  }
  if (pairs.length === 0) throw new CommandError(`${file} has no lines`);
  const { index = -1, before = -1 } = findRepeatedPair(pairs) ?? {};
  if (index >= 0)
    throw new CommandError(
      `${file}:${numbers[index]}: The same task, episode and policy are in line ${numbers[before]}`,
    );
  return pairs;
}

interface Row {
  name: string;
  figure: RealityFigure;
  meaning: string;
  /** Absent: a share. */
  unit?: "points" | "number";
}

const columns: readonly Column<Row>[] = [
  { heading: "figure", text: ({ name }) => printable(name), canWrap: true },
  {
    heading: "value (95 %)",
    text({ figure: { value, interval }, unit }) {
      if (unit === "points") return describeDifference(value, interval);
      return unit === "number"
        ? withInterval(value, interval, 1, 2, "")
        : withInterval(value, interval, 100, 1, " %");
    },
    align: "right",
  },
  atRight("episodes", ({ figure: { count } }) => String(count)),
  atRight("tasks", ({ figure: { tasks } }) => String(tasks)),
  { heading: "what it says", text: ({ meaning }) => meaning, canWrap: true },
];

function printFigures(figures: RealityFigures): void {
  const { sentence, counts, policies } = figures;
  const sentences = [sentence, figures.divergence?.sentence, figures.exploits.sentence];
  for (const one of new Set(sentences)) if (one !== undefined) process.stdout.write(`${printable(one)}\n`);
  process.stdout.write("\n");
  const { false_success_rate, missed_success_rate, agreement, bias } = figures;
  printTable(columns, [
    { name: "false success", figure: false_success_rate, meaning: "simulated successes that fail" },
    { name: "missed success", figure: missed_success_rate, meaning: "simulated failures that succeed" },
    { name: "agreement", figure: agreement, meaning: "episodes that end alike" },
    { name: "bias, points", figure: bias, meaning: "simulated less real success rate", unit: "points" },
    ...policies.map(({ policy, false_success_rate: figure }) => ({
      name: `false success, ${policy}`,
      figure,
      meaning: "of this policy",
    })),
    ...describeRewards(figures),
    ...describeExploits(figures),
  ]);
  const { both, only_simulated, only_real, neither } = counts;
  const outcomes = `${countOf(both, "episode")} succeeded in both, ${only_simulated} in simulation alone, ${only_real} in reality alone, ${neither} in neither`;
  const notes = [false_success_rate.note, figures.policy_order.note].filter((note) => note !== null);
  printNotice([outcomes, ...new Set(notes)].join("\n"));
}

function describeRewards({ reward: { absolute_error, spearman } }: RealityFigures): Row[] {
  if (absolute_error.value === null) return [];
  return [
    { name: "reward error", figure: absolute_error, meaning: "how far rewards are apart", unit: "number" },
    { name: "reward ranks", figure: spearman, meaning: "Spearman's ρ of both rewards", unit: "number" },
  ];
}

const mostExploits = 3;

function describeExploits({ exploits: { verbs, ...all } }: RealityFigures): Row[] {
  return verbs.slice(0, mostExploits).map(({ verb, false_successes, true_successes, log_odds_ratio }) => ({
    name: `exploit, ${verb}`,
    figure: log_odds_ratio,
    meaning: `log odds: in ${false_successes} of ${all.false_successes} false, ${true_successes} of ${all.true_successes} true successes`,
    unit: "number",
  }));
}

function setExitCode(
  { false_success_rate: { interval } }: RealityFigures,
  limit: number,
  undecided: Undecided,
): void {
  if (interval !== null && interval.upper < limit) return;
  const isAbove = interval !== null && interval.lower > limit;
  const option = `--max-false-success ${limit}`;
  printNotice(
    isAbove
      ? `False success is above ${option}.`
      : `The data cannot tell whether false success is above or below ${option}.`,
  );
  setGateExitCode({ isMissed: isAbove, isUntold: !isAbove }, undecided);
}
