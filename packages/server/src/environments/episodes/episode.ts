import type { EnvironmentConfig, EpisodeStatus } from "@presage/contract";
import { ServiceError } from "../../platform/errors.ts";
import { type Micros, microsPerMs, nowMicros } from "../../platform/storage/micros.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EpisodesTable } from "../../platform/storage/schema/environments.ts";
import type { Task } from "../environment.ts";
import type { EnvironmentServices } from "../environment-services.ts";
import { sandboxEnvironment } from "../sandbox-environment.ts";
import { selectEpisode } from "./episodes-store.ts";

/** The position of a task that its environment does not have. */
export const noPosition = -1;

/** An episode that nobody uses for so long has expired. */
export const idleMs = 15 * 60_000;

export interface Episode {
  row: EpisodesTable;
  config: EnvironmentConfig;
  task: Task;
}

/** An episode of the account, with what its environment was made of when it started. */
export async function findEpisode(
  { store }: Pick<EnvironmentServices, "store">,
  { accountId }: Requester,
  id: string,
): Promise<Episode> {
  // One row by its key, not behind long reads.
  const found = await selectEpisode(store.database, accountId, id);
  if (found === undefined) throw noSuchEpisode();
  const { episode: row } = found;
  const config = row.environment_id === sandboxEnvironment.id ? sandboxEnvironment.config : found.config;
  if (config === undefined) throw new ServiceError("not_found", "The episode's environment was deleted.");
  return { row, config, task: JSON.parse(row.task) as Task };
}

/** The task's place in its split, if it is one of the environment's. */
export function indexOf({ position }: Pick<EpisodesTable, "position">): number | undefined {
  const index = Number(position);
  return index === noPosition ? undefined : index;
}

export function statusOf({
  status,
  last_active_at,
}: Pick<EpisodesTable, "status" | "last_active_at">): EpisodeStatus {
  if (status === "finished") return "finished";
  return last_active_at < expiredBefore() ? "expired" : "open";
}

/** Open episodes that were last used before it have expired. */
export function expiredBefore(): Micros {
  return nowMicros() - idleMs * microsPerMs;
}

export function noSuchEpisode(): ServiceError {
  return new ServiceError("not_found", "There is no such episode.");
}
