import type { EnvironmentConfig } from "@presage/contract";
import { selectEnvironment } from "../../environments/environments-store.ts";
import type { RealityServices } from "../../environments/find-environment.ts";
import { microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import type { RealityChecksTable } from "../../platform/storage/schema/reality.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { insertCheck } from "../checks-store.ts";
import type { RealEnvironments } from "../real/real-environment.ts";
import {
  completeDrawn,
  type DrawnEnvironment,
  hasOpenEpisodes,
  insertReplays,
  selectContinuousChecks,
  selectEndedSince,
  selectUncheckedEnvironments,
  updateDrawn,
} from "./replays-store.ts";

/** Whether an episode is drawn: by its id alone, never by how it ended, and the same wherever it is asked. */
function isDrawn(episodeId: string, share: number): boolean {
  return Number(Bun.hash.wyhash(episodeId)) / 2 ** 64 < share;
}

/** Those of some ids that a seed draws, in the order in which it draws them. */
export function drawBySeed(ids: readonly string[], seed: number, most: number): string[] {
  const hashed = ids.map((id) => [Bun.hash.wyhash(id, BigInt(seed)), id] as const);
  return hashed
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .slice(0, most)
    .map(([, id]) => id);
}

/** Draws episodes that have ended, for the continuous checks of environments that want them. */
export async function drawEnded(
  services: RealityServices & { realEnvironments: Pick<RealEnvironments, "all"> },
  onError: (error: unknown) => void,
): Promise<void> {
  const { database } = services.store;
  if (services.realEnvironments.all().length > 0)
    for (const environment of await selectUncheckedEnvironments(database))
      await startContinuous(database, environment);
  for (const check of await selectContinuousChecks(database)) await drawFor(services, check).catch(onError);
}

async function startContinuous(database: Database, environment: DrawnEnvironment): Promise<void> {
  const { real } = JSON.parse(environment.config) as EnvironmentConfig;
  if (!real?.share) return;
  // Several processes may come here at once, for one check.
  await insertCheck(database, {
    // One for each revision of an environment.
    id: Bun.randomUUIDv5(`continuous/${environment.id}/${environment.revision}`, "url"),
    account_id: environment.account_id,
    source: "continuous",
    name: `${environment.name}, revision ${environment.revision}: ${real.share * 100} % of its episodes`,
    environment: environment.name,
    environment_id: environment.id,
    environment_revision: environment.revision,
    real: real.name,
    recordings: null,
    status: "running",
    drawn_until: 0,
    episodes: 0,
    false_success_limit: real.false_success_limit ?? null,
    created_by: environment.created_by,
  });
}

/** Commits and clocks of several processes are never further apart. */
const overlapMicros = 60_000 * microsPerMs;

async function drawFor(services: RealityServices, check: RealityChecksTable): Promise<void> {
  const { database } = services.store;
  const { id, account_id: accountId, environment, environment_revision } = check;
  const name = environment ?? "";
  const [found, latest] = await Promise.all([
    selectEnvironment(database, accountId, { name, revision: Number(environment_revision) }),
    selectEnvironment(database, accountId, { name }),
  ]);
  if (found === undefined) return await completeDrawn(database, id);
  // Before the last ones are looked for.
  const isOver = found.revision !== latest?.revision && !(await hasOpenEpisodes(database, check));
  await services.realityOf({ accountId, signal: AbortSignal.timeout(lookMs) }, found);
  const now = nowMicros();
  const before = Number(check.drawn_until);
  const ended = await selectEndedSince(database, check, before - overlapMicros);
  const share = found.config.real?.share ?? 0;
  const drawn = ended.filter((episode) => isDrawn(episode.id, share));
  if (drawn.length === 0 && isOver) return await completeDrawn(database, id);
  if (drawn.length === 0 && now - before < overlapMicros) return;
  await database.transaction().execute(async (transaction) => {
    // Another process may have drawn them meanwhile.
    if (!(await updateDrawn(transaction, check, now))) return;
    const replays = drawn.map((episode) => ({ episode_id: episode.id, trajectory_id: null }));
    await insertReplays(transaction, id, replays);
  });
}

const lookMs = 30_000;
