import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runWrk } from "../../load/run-wrk.ts";
import { benchDirectory, workDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";
import type { Upstream } from "../../targets/start-upstream.ts";
import type { EvaluationsPlan } from "../plan-evaluations.ts";
import { type RunningPresage, startPresage } from "../start-presage.ts";
import { heavyBodies, heavyRegexProfile } from "./heavy-bodies.ts";

interface Latencies {
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

export interface BesideSample {
  readonly round: number;
  readonly idle: Latencies;
  readonly busy: Latencies;
  /** Expensive evaluations finished meanwhile. */
  readonly evaluated: number;
  readonly problem: string | undefined;
}

/** Time for the threads to start and all evaluations to be in flight. */
const headStartMs = 1500;
const clientScript = join(benchDirectory, "evaluations", "beside", "heavy-client.mjs");

export const createHeavyProfile = async ({ origin, headers }: RunningPresage): Promise<void> => {
  const body = JSON.stringify(heavyRegexProfile);
  const response = await fetch(`${origin}/v1/evaluator-profiles`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`the profile was refused: ${await response.text()}`);
};

/** Measures while a client keeps as many of the evaluations in flight. */
export const loadWhile = async <Value>(
  group: ProcessGroup,
  { origin, headers }: Pick<RunningPresage, "origin" | "headers">,
  { bodies, inFlight }: { readonly bodies: readonly string[]; readonly inFlight: number },
  logFile: string,
  measure: () => Promise<Value>,
): Promise<{ measured: Value; outcomes: Readonly<Record<string, number>> }> => {
  const job = { url: `${origin}/v1/evaluate`, headers, bodies, inFlight };
  const jobFile = `${logFile}.job.json`;
  await Bun.write(jobFile, JSON.stringify(job));
  const client = group.startServer({ argv: ["node", clientScript, jobFile], logFile });
  await Bun.sleep(headStartMs);
  const measured = await measure();
  await group.stop(client);
  return { measured, outcomes: JSON.parse(readFileSync(logFile, "utf8")) };
};

export const measureBeside = async (
  group: ProcessGroup,
  upstream: Upstream,
  { rounds, connections, delayMs, durationS, heavyInFlight }: EvaluationsPlan["beside"],
): Promise<BesideSample[]> => {
  const directory = join(workDirectory, "beside");
  const presage = await startPresage(
    group,
    upstream.origin,
    directory,
    `sqlite:${join(directory, "presage.db")}`,
  );
  await createHeavyProfile(presage);
  await upstream.set(delayMs);
  const predict = () => runWrk(group, presage.predict, connections, durationS);
  await predict();

  const samples: BesideSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const idle = await predict();
    const logFile = join(directory, `heavy-${round}.log`);
    const { measured: busy, outcomes } = await loadWhile(
      group,
      presage,
      { bodies: heavyBodies, inFlight: heavyInFlight },
      logFile,
      predict,
    );
    const { success: evaluated = 0, ...failures } = outcomes;
    const problems = [
      ...Object.entries(failures).map(([why, times]) => `${times} x ${why}`),
      ...[idle, busy].flatMap(({ errors }) =>
        Object.entries(errors).flatMap(([kind, count]) => (count > 0 ? [`${count} ${kind} errors`] : [])),
      ),
      ...(evaluated === 0 ? ["no evaluation finished"] : []),
    ];
    samples.push({
      round,
      idle,
      busy,
      evaluated,
      problem: problems.length === 0 ? undefined : problems.join(", "),
    });
    const figures = `p99 ${idle.p99Us} us idle, ${busy.p99Us} us beside ${heavyInFlight} expensive evaluations`;
    const problem = problems.length === 0 ? "" : `  FAILED: ${problems.join(", ")}`;
    process.stdout.write(`beside  round ${round + 1}: ${figures}, ${evaluated} evaluated${problem}\n`);
  }
  await group.stop(presage.process);
  return samples;
};
