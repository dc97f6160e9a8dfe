import { join } from "node:path";
import type { RunningPresage } from "../../evaluations/start-presage.ts";
import { rootDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";

interface WantedRun {
  readonly name: string;
  readonly datasetId: string;
  readonly revision: number;
  readonly evaluators: readonly { readonly evaluator: string; readonly profile_name?: string }[];
  readonly target: Readonly<Record<string, string>>;
  readonly mode?: string;
  readonly repeats?: number;
}

const presageCommand = [
  join(rootDirectory, "node_modules", ".bin", "bun"),
  join(rootDirectory, "packages", "server", "src", "main.ts"),
];

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

/** What `presage compare --server` says. */
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
  const { stdout, stderr, exitCode } = await group.runCommand({ argv, env });
  if (exitCode !== 0) throw new Error(`presage ${command[0]} failed: ${stderr}`);
  return JSON.parse(stdout);
};
