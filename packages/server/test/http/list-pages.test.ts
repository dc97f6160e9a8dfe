import { expect, test } from "bun:test";
import { selectLiveSessions } from "../../src/accounts/sessions-store.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { issuesOf, locationsOf } from "../support/resources/validation-issues.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const keys = apiKeyClient(() => presage);

  test("Keys are listed in pages, including revoked ones, and without parameters all at once", async () => {
    const made: string[] = [];
    for (const name of ["a", "b", "c", "d"]) made.unshift((await keys.create(name)).id);
    await keys.revoke(made[1] ?? "");
    const all = (await keys.list()).map(({ id }) => id);
    expect(all.slice(0, 4)).toEqual(made);
    expect(all).toHaveLength(5);
    const pages: string[][] = [];
    for (let query = "?limit=2"; ; ) {
      const response = await presage.call("GET", `/v1/api-keys${query}`);
      const { data, next } = (await response.json()) as { data: { id: string }[]; next: string | null };
      pages.push(data.map(({ id }) => id));
      if (next === null) break;
      // A new key comes before all that remain.
      if (pages.length === 1) await keys.create("meanwhile");
      query = `?limit=2&after=${next}`;
    }
    expect(pages).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
  });

  test("A list's limit and cursor are validated", async () => {
    for (const path of ["/v1/api-keys", "/v1/sessions"]) {
      for (const [query, type] of [
        ["limit=0", "greater_than_equal"],
        ["limit=1001", "less_than_equal"],
        ["limit=x", "int_parsing"],
        ["after=", "value_error"],
        ["after=1", "value_error"],
        ["after=x.y", "value_error"],
      ] as const) {
        const issues = locationsOf(await issuesOf(await presage.call("GET", `${path}?${query}`)));
        expect(issues).toEqual([{ type, loc: ["query", query.split("=")[0] ?? ""] }]);
      }
      expect((await presage.call("GET", `${path}?after=1.nothing`)).status).toBe(200);
    }
  });

  test("Sessions with equal times are listed in pages as well", async () => {
    await using store = await openStore(presage.databaseUrl);
    const ids = Array.from({ length: 5 }, () => Bun.randomUUIDv7())
      .sort()
      .reverse();
    for (const id of ids) {
      await store.database
        .insertInto("sessions")
        .values({
          id,
          user_id: store.owner.id,
          issuer: "https://pages.example",
          digest: id,
          user_agent: null,
          id_token: null,
          created_at: 7,
          last_seen_at: 7,
          expires_at: 9,
          ended_at: null,
        })
        .execute();
    }
    const live = { issuer: "https://pages.example", now: 8, seenSince: 1 };
    const seen: string[][] = [];
    let after: Parameters<typeof selectLiveSessions>[3]["after"];
    do {
      const { rows, next } = await selectLiveSessions(store.database, store.owner.id, live, {
        limit: 2,
        after,
      });
      seen.push(rows.map(({ id }) => id));
      after = next;
    } while (after !== undefined);
    expect(seen).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  });
});
