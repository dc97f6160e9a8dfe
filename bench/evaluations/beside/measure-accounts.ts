import { join } from "node:path";
import { runWrk } from "../../load/run-wrk.ts";
import { workDirectory } from "../../paths.ts";
import type { ProcessGroup } from "../../processes.ts";
import type { EvaluationsPlan } from "../plan-evaluations.ts";
import { startPresage } from "../start-presage.ts";
import { evaluateBodies } from "../throughput/sample-texts.ts";
import { addAccount } from "./add-account.ts";
import { heavyBodies, longBodies } from "./heavy-bodies.ts";
import { createHeavyProfile, loadWhile } from "./measure-beside.ts";

/** What the other account has under way meanwhile. */
export const crowds = ["nothing", "expensive rules", "bodies of a megabyte"] as const;
export type Crowd = (typeof crowds)[number];

const bodiesOf: Readonly<Record<Exclude<Crowd, "nothing">, readonly string[]>> = {
  "expensive rules": heavyBodies,
  "bodies of a megabyte": longBodies,
};

export interface AccountsSample {
  readonly round: number;
  readonly crowd: Crowd;
  readonly requests: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** Evaluations of the crowd that ended meanwhile. */
  readonly ended: number;
  readonly problem: string | undefined;
}

/** Small evaluations of one account, alone and beside heavy ones of another. */
export const measureAccounts = async (
  group: ProcessGroup,
  upstreamOrigin: string,
  { rounds, connections, durationS, heavyInFlight }: EvaluationsPlan["accounts"],
): Promise<AccountsSample[]> => {
  const directory = join(workDirectory, "accounts");
  const databaseUrl = `sqlite:${join(directory, "presage.db")}`;
  const presage = await startPresage(group, upstreamOrigin, directory, databaseUrl);
  await createHeavyProfile(presage);
  const headers = { ...presage.headers, "x-api-key": await addAccount(databaseUrl) };
  const request = { url: `${presage.origin}/v1/evaluate`, headers, body: evaluateBodies };
  const evaluate = () => runWrk(group, request, connections, durationS, "evaluate.lua");
  await evaluate();

  const samples: AccountsSample[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const crowd of round % 2 === 0 ? crowds : crowds.toReversed()) {
      const { measured, outcomes } =
        crowd === "nothing"
          ? { measured: await evaluate(), outcomes: {} }
          : await loadWhile(
              group,
              presage,
              { bodies: bodiesOf[crowd], inFlight: heavyInFlight },
              join(directory, `crowd-${round}-${crowds.indexOf(crowd)}.log`),
              evaluate,
            );
      const { success: ended = 0, ...failures }: Readonly<Record<string, number>> = outcomes;
      const problems = [
        ...Object.entries(failures).map(([why, times]) => `${times} x ${why}`),
        ...Object.entries(measured.errors).flatMap(([kind, count]) =>
          count > 0 ? [`${count} ${kind} errors`] : [],
        ),
        ...(crowd !== "nothing" && ended === 0 ? ["no evaluation of the crowd ended"] : []),
      ];
      const problem = problems.length === 0 ? undefined : problems.join(", ");
      const { requests, p50Us, p99Us, maxUs } = measured;
      samples.push({ round, crowd, requests, p50Us, p99Us, maxUs, ended, problem });
      process.stdout.write(
        `accounts  round ${round + 1}, beside ${crowd}: p99 ${p99Us} us, ${requests} small and ${ended} heavy ended${problem === undefined ? "" : `  FAILED: ${problem}`}\n`,
      );
    }
  }
  await group.stop(presage.process);
  return samples;
};
