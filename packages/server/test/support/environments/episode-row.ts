import type { EpisodesTable } from "../../../src/platform/storage/schema/runs.ts";

/** An open episode that was started at a time, in microseconds. */
export function episodeRow(id: string, at: number): EpisodesTable {
  return {
    id,
    account_id: "account",
    environment_id: "environment",
    environment: "rooms",
    revision: 1,
    split: "train",
    position: 0,
    task: "{}",
    seed: null,
    policy: null,
    status: "open",
    outcome: null,
    stop_reason: null,
    error: null,
    steps: 0,
    reward: null,
    failed_steps: 0,
    api_key_id: null,
    created_at: at,
    last_active_at: at,
  };
}
