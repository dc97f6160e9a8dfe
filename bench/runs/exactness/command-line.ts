import { join } from "node:path";
import { bun, type ProcessGroup, rootDirectory } from "../../lib/processes.ts";
import type { RunningPresage } from "../../lib/targets.ts";

interface WantedRun {
  readonly name: string;
  readonly datasetId: string;
  readonly revision: number;
  readonly evaluators: readonly { readonly evaluator: string; readonly profile_name?: string }[];
  readonly target: Readonly<Record<string, string>>;
  readonly mode?: string;
  readonly repeats?: number;
}

const presageCommand = [bun, join(rootDirectory, "packages", "server", "src", "main.ts")];

/** The report of a run that `presage run --server` makes. */
export const runByCommandLine = (
  group: ProcessGroup,
  presage: RunningPresage,
  { name, datasetId, revision, evaluators, target, mode, repeats }: WantedRun,
): Promise<unknown> => {
  const options = { name, dataset: datasetId, revision, ...target, mode, repeats };
  return answerOf(group, presage, [
    "run",
    ...Object.entries(options).flatMap(([option, value]) =>
      value === undefined ? [] : [`--${option}`, String(value)],
    ),
    ...evaluators.flatMap(({ evaluator, profile_name: profile }) => [
      "--evaluator",
      profile === undefined ? evaluator : `${evaluator}=${profile}`,
    ]),
  ]);
};

/** The output of `presage compare --server`. */
export const compareByCommandLine = (
  group: ProcessGroup,
  presage: RunningPresage,
  ids: readonly string[],
): Promise<unknown> => answerOf(group, presage, ["compare", ...ids]);

const answerOf = async (
  group: ProcessGroup,
  { origin, headers }: RunningPresage,
  command: readonly string[],
): Promise<unknown> => {
  const argv = [...presageCommand, ...command, "--json", "--server", origin];
  const env = { PRESAGE_API_KEY: headers["x-api-key"] ?? "" };
  return JSON.parse(await group.outputOf(`presage ${command[0]}`, { argv, env }));
};

/** Fields that name a run or say how long it took, not how accurate it is. */
const notFigures: ReadonlySet<string> = new Set([
  "id",
  "run_id",
  "name",
  "run",
  "runs",
  "provenance",
  "created_at",
  "started_at",
  "finished_at",
  "latency_ms",
  "predictions_per_second",
  "cost",
  "waited",
  "duration_ms",
]);

/** Where two answers differ in a figure, to the last digit; one sentence each. */
export const findDifferences = (label: string, expected: unknown, received: unknown): string[] => {
  if (isRecord(expected) && isRecord(received)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(received)]);
    return [...keys]
      .filter((key) => !notFigures.has(key))
      .flatMap((key) => findDifferences(`${label}.${key}`, expected[key], received[key]));
  }
  if (Object.is(expected, received)) return [];
  return [
    `${label}: ${JSON.stringify(expected)} by the API, ${JSON.stringify(received)} by the command line`,
  ];
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
