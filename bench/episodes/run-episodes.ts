import { join } from "node:path";
import { startPostgres } from "../evaluations/search/start-postgres.ts";
import { startPresage } from "../evaluations/start-presage.ts";
import { median } from "../median.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import { measureSteps, type OpenEpisodes, openMany, type StepsRound } from "./measure-steps.ts";
import type { EpisodesPlan } from "./plan-episodes.ts";
import { createEnvironment } from "./play-episodes.ts";

export interface EpisodesSample {
  readonly database: "SQLite" | "PostgreSQL";
  readonly memory: OpenEpisodes;
  readonly rounds: readonly StepsRound[];
}

/** Many open episodes, and what a step costs beside a prediction, on both databases. */
export const runEpisodes = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: EpisodesPlan,
): Promise<EpisodesSample[]> => {
  const postgres = await startPostgres(group, 1);
  const places = [
    { database: "SQLite" as const, url: `sqlite:${join(workDirectory, "episodes.db")}` },
    ...(postgres === undefined ? [] : [{ database: "PostgreSQL" as const, url: postgres.urls[0] ?? "" }]),
  ];
  await upstream.set(0);
  const samples: EpisodesSample[] = [];
  for (const { database, url } of places) {
    const directory = join(workDirectory, `episodes-${database}`);
    const presage = await startPresage(group, upstream.origin, directory, url);
    await createEnvironment(presage);
    const memory = await openMany(presage, plan);
    const rounds = await measureSteps(presage, plan);
    await group.stop(presage.process);
    samples.push({ database, memory, rounds });
    const memoryMb = (memory.rssBytes / 1e6).toFixed(0);
    process.stdout.write(
      `episodes   ${database}: ${memory.episodes} open, ${memoryMb} MB${describe(rounds, plan)}\n`,
    );
  }
  if (postgres !== undefined) await group.stop(postgres.process);
  return samples;
};

const describe = (rounds: readonly StepsRound[], { concurrency }: EpisodesPlan): string =>
  concurrency
    .map((count) => {
      const some = rounds.filter((round) => round.concurrency === count);
      const stepUs = median(some.map((round) => round.stepUs));
      const predictionUs = median(some.map((round) => round.predictionUs));
      return `; ${count} at once: a step ${stepUs.toFixed(0)} µs, a prediction ${predictionUs.toFixed(0)} µs of processor time`;
    })
    .join("");
