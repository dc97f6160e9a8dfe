import { expect, test } from "bun:test";
import { sql } from "kysely";
import { selectEnvironmentRevisions } from "../../src/environments/environments-store.ts";
import {
  countCharacters,
  selectEpisodes,
  selectMatchingIds,
  selectProgressOfOne,
  selectProgressOfSome,
  selectSteps,
} from "../../src/environments/episodes/episodes-store.ts";
import { selectEpisodeCounts, selectInstructions } from "../../src/environments/episodes/show-episode.ts";
import type { RealityChecksTable } from "../../src/platform/storage/schema/reality.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { isPostgres } from "../../src/platform/storage/store.ts";
import { selectEndedSince } from "../../src/reality/replays/replays-store.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openPlanned } from "../support/store/planned-database.ts";

const page = { limit: 10, after: { createdAt: 5, id: "e" } };
const all = { expiredBefore: 1 };
const counted = { environmentId: "n", from: undefined, to: undefined, expiredBefore: 1 };

const reads: Record<string, (database: Database) => Promise<unknown>> = {
  "a page of episodes": (database) => selectEpisodes(database, "a", all, page),
  "a page of an environment's episodes": (database) =>
    selectEpisodes(database, "a", { ...all, environment_id: "n", outcome: "none", split: "train" }, page),
  "what tasks ask for": (database) => selectInstructions(database, ["e", "f"]),
  "episodes for a dataset": (database) =>
    selectMatchingIds(database, "a", { ...all, environment_id: "n", status: "open" }, page),
  "episodes by their ids": (database) => selectMatchingIds(database, "a", { ...all, ids: ["e", "f"] }, page),
  "figures of an environment": (database) => selectEpisodeCounts(database, "a", "revision", counted),
  "figures by deployment": (database) => selectEpisodeCounts(database, "a", "deployment", counted),
  "figures of all environments": (database) =>
    selectEpisodeCounts(database, "a", "environment", { ...counted, environmentId: undefined }),
  "how far an episode is": (database) => selectProgressOfOne(database, "e"),
  // The statement for several episodes exists on PostgreSQL only.
  "how far episodes are": (database) =>
    isPostgres(database) ? selectProgressOfSome(database, ["e", "f"]) : selectProgressOfOne(database, "e"),
  "steps of an episode": (database) => selectSteps(database, "e", 2),
  "how long a prompt is": (database) => countCharacters(database, "e", { after: 0, upTo: 3 }),
  "revisions of an environment": (database) =>
    selectEnvironmentRevisions(database, "n", { limit: 10, below: 5 }),
};

onEachDatabase((database) => {
  const isSqlite = database.name === "SQLite";

  test("every read of episodes walks an index", async () => {
    const { database: watched, plansOf } = await openPlanned(database, 1);
    // With few rows PostgreSQL would rather read them all.
    if (!isSqlite) await sql`set enable_seqscan = off`.execute(watched);
    for (const [name, read] of Object.entries(reads)) {
      const plans = await plansOf(() => read(watched));
      // The counts by task are then added up without an index.
      const scans = plans.filter((line) => /SCAN |Seq Scan/.test(line) && !/of_task|subquery/i.test(line));
      expect([name, scans]).toEqual([name, []]);
    }
    await watched.destroy();
  });

  test("a continuous check reads what waits once, not for each ended episode", async () => {
    const { database: watched, plansOf } = await openPlanned(database, 1);
    const check = { id: "c", account_id: "a", environment_id: "n", environment_revision: 1 };
    const plans = await plansOf(() => selectEndedSince(watched, check as RealityChecksTable, 1, 5));
    expect(plans.join("\n")).toMatch(isSqlite ? /LIST SUBQUERY 1\n.*reality_replays/ : /hashed SubPlan/);
    await watched.destroy();
  });
});
