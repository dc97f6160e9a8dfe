import { expect, test } from "bun:test";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { deleteCheckRows, insertCheck } from "../../src/reality/checks-store.ts";
import {
  cancelAllChecks,
  deleteSomeOfCheck,
  insertReplays,
  type Replayed,
  storeReplayed,
} from "../../src/reality/replays/replays-store.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { isWholeRun } from "../support/whole-run.ts";

const episodes = 100;

async function insertRunning(database: Database, id: string): Promise<Replayed[]> {
  await insertCheck(database, {
    ...{ id, account_id: "account", name: "lab", environment: null, environment_id: null },
    ...{ environment_revision: null, source: "episodes", real: "lab", recordings: null, status: "running" },
    ...{ drawn_until: null, false_success_limit: null, episodes: 0, created_by: "user" },
  });
  const waiting = Array.from({ length: episodes }, (_, index) => ({
    episode_id: `e${index}`,
    trajectory_id: null,
  }));
  await insertReplays(database, id, waiting);
  return waiting.map(({ episode_id }, index) => {
    const at = { check_id: id, position: index + 1 };
    return {
      ...at,
      episode: {
        ...{ ...at, task_id: "t", episode_id, policy: null, simulated: 1, real: 0, replayed: null },
        ...{ simulated_reward: 1, real_reward: 0, steps: 1, diverged_at: null, verbs: null, checked_at: 1 },
      },
      steps: [{ ...at, step: 1, action: "a", observation: "o", reward: 0, done: 1, latency_micros: null }],
    };
  });
}

onAnyDatabase((source) => {
  test("of an episode that is deleted while it is replayed, the outcome stays and no text", async () => {
    await using opened = await openStore(await source.create());
    const { database } = opened;
    const replayed = await insertRunning(database, "check");
    await storeReplayed(database, "check", replayed);
    expect(await database.selectFrom("reality_episodes").selectAll().execute()).toHaveLength(episodes);
    expect(await database.selectFrom("reality_steps").selectAll().execute()).toEqual([]);
  });

  test("once the checks of an account are cancelled, what was being replayed is not stored", async () => {
    await using opened = await openStore(await source.create());
    const { database } = opened;
    const replayed = await insertRunning(database, "check");
    await cancelAllChecks(database, "account");
    await storeReplayed(database, "check", replayed);
    expect(await database.selectFrom("reality_episodes").selectAll().execute()).toEqual([]);
    const [check] = await database.selectFrom("reality_checks").select(["status", "episodes"]).execute();
    expect(check).toEqual({ status: "cancelled", episodes: 0 });
  });

  test("a check with many rows is deleted a few at a time", async () => {
    await using opened = await openStore(await source.create());
    const { database } = opened;
    const replayed = await insertRunning(database, "check");
    await storeReplayed(database, "check", replayed.slice(0, 50));
    const deleted: number[] = [];
    for (let next: unknown = true; next !== undefined; ) {
      const batch = await deleteSomeOfCheck(database, "check", 30);
      deleted.push(batch.deleted);
      next = batch.next;
    }
    expect(deleted).toEqual([30, 20, 30, 20, 0]);
  });

  test("a check that is deleted while replays are stored leaves nothing, and neither fails", async () => {
    await using opened = await openStore(await source.create());
    const { database } = opened;
    for (let round = 0; round < (isWholeRun ? 20 : 5); round += 1) {
      const id = `check-${round}`;
      const replayed = await insertRunning(database, id);
      await Promise.all([
        storeReplayed(database, id, replayed),
        database.transaction().execute((transaction) => deleteCheckRows(transaction, "account", id)),
      ]);
      for (const table of ["reality_episodes", "reality_replays", "reality_steps"] as const)
        expect(await database.selectFrom(table).selectAll().execute()).toEqual([]);
    }
  });
});
