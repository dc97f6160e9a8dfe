import { join } from "node:path";
import { rootDirectory, workDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";

const dataSets = 200;
const tests = join(rootDirectory, "packages", "server", "test", "runs");

/**
 * Has Python draw runs with failed, ungraded and inapplicable verdicts and compute their reports and comparisons, and the server's
 * tests compare them on both databases. Returns what there is to say, the last line of each failed one included.
 */
export const compareRandomDataSets = async (
  group: ProcessGroup,
  python: string,
): Promise<{ agrees: boolean; text: string }> => {
  const drawn = await group.runCommand({
    argv: [python, join(tests, "reference-reports.fixture.py"), String(dataSets)],
  });
  if (drawn.exitCode !== 0) throw new Error(`reference-reports.fixture.py failed: ${drawn.stderr}`);
  const file = join(workDirectory, "random-data-sets.jsonl");
  await Bun.write(file, drawn.stdout);
  const { stderr, exitCode } = await group.runCommand({
    argv: [process.execPath, "test", "--timeout", "120000", join(tests, "reference-reports.test.ts")],
    env: { PRESAGE_REFERENCE_REPORTS: file },
  });
  const lines = stderr.split("\n");
  const [passed, failed] = ["(pass)", "(fail)"].map((start) =>
    lines.filter((line) => line.startsWith(start)),
  );
  const summary = `${dataSets} random data sets on each database: ${passed?.length} are the same, ${failed?.length} differ.`;
  return {
    agrees: exitCode === 0,
    text: [summary, ...(failed ?? []).slice(0, 20)].map((line) => `${line}\n`).join(""),
  };
};
