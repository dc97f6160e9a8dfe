import { expect, test } from "bun:test";
import { onEachDatabase } from "../../../test/support/store/databases.ts";
import { openStore } from "../../../test/support/store/open-store.ts";
import { anyRequester } from "../../../test/support/store/requester.ts";
import { storeOf } from "../../../test/support/store/store-of.ts";

import { exactMatch } from "../rules/exact-match.ts";
import { archiveProfile, checkConfig, createProfile } from "./profiles.ts";

onEachDatabase(({ create }) => {
  test("A profile is archived when its revisions are read, and not if they are refused earlier", async () => {
    await using store = await openStore(await create());
    const { database } = store;
    const services = { store: storeOf(database), builtInProfiles: [] };
    const requester = anyRequester(store.owner.account_id);
    const config = await checkConfig(
      exactMatch,
      {},
      () => undefined,
      async () => undefined,
    );
    if ("issues" in config) throw new Error("unreachable");
    const profile = { config, name: "archived", description: undefined };
    const { public_id } = await createProfile(services, requester, profile);
    const archivedAt = async () =>
      (
        await database
          .selectFrom("evaluator_profiles")
          .select("archived_at")
          .where("public_id", "=", public_id)
          .executeTakeFirstOrThrow()
      ).archived_at;

    const revisions = await archiveProfile(services, requester, public_id);
    expect([revisions.count, revisions.maxBytes > 0, await archivedAt()]).toEqual([1, true, null]);
    const [[read] = []] = await Array.fromAsync(revisions.read());
    expect(read?.archived_at).toBeGreaterThan(0);
    expect(await archivedAt()).toBe(read?.archived_at ?? 0);
  });
});
