import { expect, test } from "bun:test";
import { openStore } from "../../test/support/store/open-store.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Store } from "../platform/storage/store.ts";
import { createKnownWorlds } from "./find-world.ts";

test("what a name means is known while the database is late or unavailable", async () => {
  await using opened = await openStore("sqlite::memory:");
  let reads = 0;
  let briefReader: Store["briefReader"] = opened.briefReader;
  const known = createKnownWorlds({
    briefReader(requester) {
      reads += 1;
      return briefReader(requester);
    },
  });
  const find = (name: string) =>
    known.find({ accountId: "a", signal: new AbortController().signal }, { name, revision: undefined });
  expect(await find("gpt-4o")).toBeUndefined();
  await Bun.sleep(1_010);
  briefReader = () => {
    throw new ServiceError("overloaded", "Too many reads of this account are waiting.");
  };
  expect(await Promise.all([find("gpt-4o"), find("gpt-4o")])).toEqual([undefined, undefined]);
  expect(await find("gpt-4o")).toBeUndefined();
  expect(reads).toBe(2);
  expect(find("o3")).rejects.toThrow("Too many reads");
});
