import { join } from "node:path";
import { startPostgres } from "../evaluations/search/start-postgres.ts";
import { workDirectory } from "../paths.ts";
import type { ProcessGroup } from "../processes.ts";
import type { Upstream } from "../targets/start-upstream.ts";
import { type ImportSample, measureImport } from "./measure-import.ts";
import { type LiveSample, measureLive } from "./measure-live.ts";
import { measureUpload, type UploadSample } from "./measure-upload.ts";
import type { RunsPlan } from "./plan-runs.ts";

export interface RunsResult {
  readonly imports: readonly ImportSample[];
  readonly live: readonly LiveSample[];
  readonly smallUploads: readonly UploadSample[];
  readonly largeUploads: readonly UploadSample[];
}

const smallBytes = 300;
const largeBytes = 10_000;

/** Data sets, runs and reports, on both databases. */
export const runRuns = async (
  group: ProcessGroup,
  upstream: Upstream,
  plan: RunsPlan,
): Promise<RunsResult> => {
  const postgres = await startPostgres(group, 3);
  const databases = [0, 1, 2].map((place) => [
    { database: "SQLite" as const, url: `sqlite:${join(workDirectory, `runs-${place}.db`)}` },
    ...(postgres === undefined ? [] : [{ database: "PostgreSQL" as const, url: postgres.urls[place] ?? "" }]),
  ]);
  const [ofImports = [], ofSmall = [], ofLarge = []] = databases;
  const imports: ImportSample[] = [];
  for (const { database, url } of ofImports)
    imports.push(await measureImport(group, upstream.origin, database, url, plan));
  const live = await measureLive(group, upstream, plan.live);
  await upstream.set(0);
  const upload = async (places: typeof ofSmall, samples: number, bytes: number): Promise<UploadSample[]> => {
    const measured: UploadSample[] = [];
    for (const place of places)
      measured.push(await measureUpload(group, upstream.origin, place, samples, bytes));
    return measured;
  };
  const smallUploads = await upload(ofSmall, plan.smallSamples, smallBytes);
  const largeUploads = await upload(ofLarge, plan.largeSamples, largeBytes);
  if (postgres !== undefined) await group.stop(postgres.process);
  return { imports, live, smallUploads, largeUploads };
};
