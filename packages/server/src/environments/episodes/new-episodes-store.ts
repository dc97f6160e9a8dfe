import { selectClosed } from "../../platform/storage/closed-accounts-store.ts";
import { recordRequests } from "../../platform/storage/idempotent-requests-store.ts";
import { insertRows } from "../../platform/storage/insert-rows.ts";
import type { Once } from "../../platform/storage/once.ts";
import type { EpisodesTable } from "../../platform/storage/schema/environments.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { holdEnvironments } from "../environments-store.ts";

/** An episode at its start, and the request for it if that has a key. Plain data: it crosses threads. */
export interface NewEpisodeRow {
  row: EpisodesTable;
  request: (Once & { receipt: string }) | undefined;
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
  const rows = episodes.map(({ row }) => row);
  const accountIds = rows.map((row) => row.account_id);
  const closed = await selectClosed(transaction, accountIds);
  const environmentIds = rows.map((row) => row.environment_id);
  const held = await holdEnvironments(transaction, environmentIds);
  const possible = episodes.filter(({ row }) => !closed.has(row.account_id) && held.has(row.environment_id));
  const requests = possible.flatMap(({ request }) => request ?? []);
  const recorded = await recordRequests(transaction, requests);
  const stored = possible.filter(({ request }) => request === undefined || recorded.has(request));
  const storedRows = stored.map(({ row }) => row);
  await insertRows(transaction, "episodes", storedRows);
  return new Set(stored);
}
