import { test } from "bun:test";
import { expectSoundRollups } from "../../retention/expect-sound-rollups.ts";
import { resultAt } from "../../retention/many-results.ts";
import { expectEventually } from "../../support/eventually.ts";
import { readMetric } from "../../support/presage/read-metric.ts";
import { spawnPresage } from "../../support/presage/spawn-presage.ts";
import { onEachDatabase } from "../../support/store/databases.ts";
import { openStore } from "../../support/store/open-store.ts";
import { storeResults } from "../../support/store/store-results.ts";

const environment = { PRESAGE_RETENTION: "results=30,predictions=30,episodes=30,usage=30,audit=90" };
/** Long before today. */
const old = Date.UTC(2020, 0, 1) * 1_000;

onEachDatabase((database) => {
  test("A server that is killed while it deletes loses nothing, and the next one deletes the rest", async () => {
    const url = await database.create();
    await using opened = await openStore(url);
    const { account_id } = opened.owner;
    const fields = Array.from({ length: 400 }, (_, index) => ({
      ...resultAt(index),
      createdAt: old + index,
    }));
    await storeResults(opened.database, account_id, fields);
    const young = Array.from({ length: 50 }, (_, index) => {
      const { createdAt: _createdAt, ...rest } = resultAt(index);
      return rest;
    });
    await storeResults(opened.database, account_id, young);
    const countResults = async () => {
      const { count } = await opened.database
        .selectFrom("evaluation_results")
        .select((of) => of.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return Number(count);
    };
    const killed = await spawnPresage({ PRESAGE_DATABASE_URL: url, ...environment });
    await expectEventually(async () => (await countResults()) < 450, true);
    killed.kill("SIGKILL");
    await killed.exited;
    await using rest = await spawnPresage({ PRESAGE_DATABASE_URL: url, ...environment });
    // The busier the machine, the fewer rows are deleted at once: at worst one.
    await expectEventually(countResults, 50, 300_000);
    // The counts change until then.
    await expectEventually(
      async () => (await readMetric(rest, "presage_retention_complete_timestamp_seconds")) > 0,
      true,
    );
    await expectSoundRollups(rest, opened.database);
  }, 400_000);
});
