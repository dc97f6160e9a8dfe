import { expect, test } from "bun:test";
import { episodeRow } from "../../../test/support/environments/episode-row.ts";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openStore } from "../../../test/support/store/open-store.ts";
import { closeAccount } from "../../platform/storage/closed-accounts-store.ts";
import { sandboxEnvironment } from "../environment.ts";
import { applyWrites } from "./episode-writes-store.ts";

const newEpisode = (id: string, changes: object = {}, requestId?: string) => ({
  row: { ...episodeRow(id, 1), environment_id: sandboxEnvironment.id, ...changes },
  request: requestId === undefined ? undefined : { id: requestId, requestDigest: "", receipt: "{}" },
});

onEachDatabase(({ create }) => {
  test("an episode that cannot be stored does not keep others from it that start at the same time", async () => {
    await using store = await openStore(await create());
    const { database } = store;
    await closeAccount(database, "closed");
    const episodes = [
      newEpisode("plain"),
      newEpisode("first", {}, "request"),
      newEpisode("repeated", {}, "request"),
      newEpisode("of a closed account", { account_id: "closed" }, "of a closed account"),
      newEpisode("without an environment", { environment_id: "deleted" }, "without an environment"),
    ];
    const stored = await applyWrites(
      database,
      episodes.map((episode) => ({ episode })),
    );
    expect(stored).toEqual([true, true, false, false, false]);
    // A request that changed nothing is not remembered either.
    const requests = await database.selectFrom("idempotent_requests").select("id").execute();
    expect(requests).toEqual([{ id: "request" }]);
    const rows = await database.selectFrom("episodes").select("id").orderBy("id").execute();
    expect(rows.map(({ id }) => id)).toEqual(["first", "plain"]);
    expect(await applyWrites(database, [{ episode: newEpisode("again", {}, "request") }])).toEqual([false]);
  });
});
