import { expect, test } from "bun:test";
import { episodeRow } from "../../../test/support/environments/episode-row.ts";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openStore } from "../../../test/support/store/open-store.ts";
import { microsPerMs, nowMicros } from "../../platform/storage/columns.ts";
import { idleMs, progressReader } from "./episode.ts";
import { insertEpisode } from "./episodes-store.ts";

onEachDatabase(({ create }) => {
  test("an episode that was kept open since is not taken for one that expired", async () => {
    await using store = await openStore(await create());
    const now = nowMicros();
    const row = episodeRow("episode", now);
    await insertEpisode(store.database, row);
    const known = { ...row, last_active_at: now - 2 * idleMs * microsPerMs };
    const progress = await progressReader(store.database)(known);
    expect(Number(progress?.last_active_at)).toBe(now);
  });
});
