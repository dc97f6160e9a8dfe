import { selectClosed } from "../../storage/closed-accounts-store.ts";
import { recordRequests } from "../../storage/idempotency/idempotent-requests-store.ts";
import type { Once } from "../../storage/idempotency/once.ts";
import type { EpisodesTable } from "../../storage/schema/environments.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { insertRows } from "../../storage/writing/insert-rows.ts";
import { holdEnvironments } from "../environments-store.ts";

/** An episode to be stored, and the request that starts it if that has a key. Plain data: it crosses threads. */
export interface NewEpisodeRow {
  row: EpisodesTable;
  once: Once | undefined;
}

/** What is remembered of a request that started an episode. */
export function startReceipt({ id }: Pick<EpisodesTable, "id">): { id: string } {
  return { id };
}

/**
 * Stores episodes, each unless its account is closed, its environment was deleted or its request was made before. Returns those that
 * were stored.
 */
export async function insertEpisodes(
  transaction: Database,
  episodes: readonly NewEpisodeRow[],
): Promise<ReadonlySet<NewEpisodeRow>> {
  if (episodes.length === 0) return new Set();
  const closed = await selectClosed(
    transaction,
    episodes.map(({ row }) => row.account_id),
  );
  const held = await holdEnvironments(
    transaction,
    episodes.map(({ row }) => row.environment_id),
  );
  const possible = episodes.filter(
    ({ row }) => !closed.has(row.account_id) && held.has(row.environment_id),
  );
  const recorded = await recordRequests(
    transaction,
    possible.flatMap(({ row, once }) =>
      once === undefined ? [] : [{ once, receipt: JSON.stringify(startReceipt(row)) }],
    ),
  );
  const stored = possible.filter(({ once }) => once === undefined || recorded.has(once));
  await insertRows(
    transaction,
    "episodes",
    stored.map(({ row }) => row),
  );
  return new Set(stored);
}
