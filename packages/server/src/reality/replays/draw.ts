import type { EnvironmentConfig } from "@presage/contract";
import { selectEnvironment } from "../../environments/environments-store.ts";
import { microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import type { RealityChecksTable } from "../../platform/storage/schema/reality.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Store } from "../../platform/storage/store.ts";
import { insertCheck, selectContinuousChecks, updateDrawn } from "../checks-store.ts";
import {
  type DrawnEnvironment,
  insertReplays,
  selectEndedSince,
  selectUncheckedEnvironments,
  stopCheck,
} from "./replays-store.ts";

/** Whether an episode is drawn: by its id alone, never by how it ended, and the same wherever it is asked. */
export function isDrawn(episodeId: string, share: number): boolean {
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
export async function drawEnded({ store }: { store: Store }): Promise<void> {
  const { database } = store;
  for (const environment of await selectUncheckedEnvironments(database))
    await startContinuous(database, environment);
  for (const check of await selectContinuousChecks(database)) await drawFor(database, check);
}

async function startContinuous(database: Database, environment: DrawnEnvironment): Promise<void> {
  const { real } = JSON.parse(environment.config) as EnvironmentConfig;
  if (!real?.share) return;
  // Several processes may come here at once, for one check.
  await insertCheck(database, {
    ...{ id: idOf(environment), account_id: environment.account_id, source: "continuous" },
    name: `${environment.name}, revision ${environment.revision}: ${real.share * 100} % of its episodes`,
    ...{ environment: environment.name, environment_id: environment.id },
    ...{ environment_revision: environment.revision, real: real.name, recordings: null },
    ...{ status: "running", reason: null, drawn_until: 0, episodes: 0 },
    ...{ false_success_limit: real.false_success_limit ?? null },
    ...{ created_by: environment.created_by, created_at: nowMicros() },
  });
}

/** One for each revision of an environment. */
function idOf({ id, revision }: DrawnEnvironment): string {
  const bytes = new Bun.CryptoHasher("sha256").update(`continuous/${id}/${revision}`).digest("hex");
  return [
    bytes.slice(0, 8),
    bytes.slice(8, 12),
    `5${bytes.slice(13, 16)}`,
    `8${bytes.slice(17, 20)}`,
    bytes.slice(20, 32),
  ].join("-");
}

/** Commits and clocks of several processes are never further apart. */
const overlapMicros = 60_000 * microsPerMs;

async function drawFor(database: Database, check: RealityChecksTable): Promise<void> {
  const { id, account_id, environment, environment_revision } = check;
  const wanted = { name: environment ?? "", revision: Number(environment_revision) };
  const found = await selectEnvironment(database, account_id, wanted);
  const share = found?.config.real?.share ?? 0;
  if (share === 0) {
    await stopCheck(database, id, { status: "completed", reason: null });
    return;
  }
  const now = nowMicros();
  const ended = await selectEndedSince(database, check, Number(check.drawn_until) - overlapMicros);
  const drawn = ended.filter((episode) => isDrawn(episode.id, share));
  await database.transaction().execute(async (transaction) => {
    // Another process may have drawn them meanwhile.
    if (!(await updateDrawn(transaction, check, now))) return;
    await insertReplays(
      transaction,
      id,
      drawn.map((episode) => ({ episode_id: episode.id, trajectory_id: null })),
    );
  });
}
