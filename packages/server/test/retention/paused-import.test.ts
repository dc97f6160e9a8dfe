import { expect, test } from "bun:test";
import { importAccount } from "../../src/accounts/import-account.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

onAnyDatabase((database) => {
  const schema = "1";
  const header = { kind: "presage account", schema, account: "quiet", users: [], results: null };
  const options = {
    schema,
    maxSilenceMs: 200,
    takeNumbers: () => Promise.reject(new Error("There are no results")),
    storeResults: () => Promise.reject(new Error("There are no results")),
  };
  const numbered = (lines: readonly object[]) =>
    lines.map((line, index) => ({ number: index + 1, text: JSON.stringify(line) }));

  test("A header that no export has is refused before numbers are taken", async () => {
    await using opened = await openStore(await database.create());
    const user = { email: null, name: null, role: "owner", created_at: 1 };
    for (const wrong of [
      { account: "a\0b" },
      { users: [{ ...user, oidc_issuer: "i\0", oidc_subject: "s" }] },
      { results: { first: 1, last: Number.MAX_SAFE_INTEGER } },
    ]) {
      async function* lines() {
        yield* numbered([
          { ...header, ...wrong },
          { kind: "end", rows: 0 },
        ]);
      }
      await expect(importAccount(opened.database, lines(), options)).rejects.toThrow(
        "Line 1 is not one of an exported account.",
      );
    }
  });

  test("An import whose file falls silent ends, and nothing that it locked or stored remains", async () => {
    await using opened = await openStore(await database.create());
    const accounts = () =>
      opened.database.selectFrom("accounts").select("name").where("name", "=", "quiet").execute();
    const silent = Promise.withResolvers<void>();
    async function* lines() {
      yield* numbered([header]);
      await silent.promise;
    }
    const importing = importAccount(opened.database, lines(), options);
    await expect(importing).rejects.toThrow(
      "The file gave nothing for 0.2 s, while others wait for the import. Nothing was stored.",
    );
    silent.resolve();
    expect(await accounts()).toEqual([]);

    async function* whole() {
      yield* numbered([header, { kind: "end", rows: 0 }]);
    }
    expect(await importAccount(opened.database, whole(), options)).toEqual({ account: "quiet", rows: 0 });
    expect(await accounts()).toEqual([{ name: "quiet" }]);
  });
});
