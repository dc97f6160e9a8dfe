import { expect, test } from "bun:test";
import { openStore } from "../../test/support/store/open-store.ts";
import { storeResults } from "../../test/support/store/store-results.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import { type DeletionWork, deleteWhatIsOld, takeDeletionStep } from "./deletions.ts";

test("a step, which may start a thread, is taken only if there are rows of its kind", async () => {
  await using store = await openStore("sqlite::memory:");
  const { database, owner } = store;
  const taken: string[] = [];
  const work: DeletionWork = {
    database,
    async takeStep(step) {
      taken.push(step.kind);
      return await takeDeletionStep(database, step);
    },
    onDeleted() {},
  };
  const { signal } = new AbortController();
  await deleteWhatIsOld(work, { predictions: 30 }, nowMicros(), signal);
  expect(taken).toEqual([]);
  await storeResults(database, owner.account_id, [{}]);
  await deleteWhatIsOld(work, { predictions: 30 }, nowMicros(), signal);
  expect(new Set(taken)).toEqual(new Set(["empty counts"]));
});
