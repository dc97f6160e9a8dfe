import { expect, test } from "bun:test";
import type { Role } from "@presage/contract";
import { sql } from "kysely";
import { accountTables } from "../../src/accounts/account-tables-store.ts";
import { changeRoleOf, getUser } from "../../src/accounts/users.ts";
import { localIssuer, lockAccount, selectUser } from "../../src/accounts/users-store.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { expectSoundRollups } from "../retention/expect-sound-rollups.ts";
import { resultAt } from "../retention/many-results.ts";
import { eventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { presageCommand } from "../support/presage/main-file.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { anyRequester } from "../support/store/requester.ts";
import { storeResults } from "../support/store/store-results.ts";
import { storeRevision, storeRun } from "../support/store/store-run.ts";

onEachDatabase((database) => {
  const presage = usePresage({ database });
  const erase = (...args: string[]) =>
    runPresage(["users", "erase", ...args], { PRESAGE_DATABASE_URL: presage.databaseUrl });

  async function addUser(
    store: Database,
    accountId: string,
    email: string,
    role: Role = "owner",
    issuer = localIssuer,
  ): Promise<string> {
    const id = Bun.randomUUIDv7();
    await store
      .insertInto("accounts")
      .values({ id: accountId, name: accountId, created_at: 1 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const user = { id, account_id: accountId, email, name: "Ada", role, created_at: 1 };
    await store
      .insertInto("users")
      .values({ ...user, oidc_issuer: issuer, oidc_subject: id })
      .execute();
    const key = {
      id: Bun.randomUUIDv7(),
      user_id: id,
      name: "k",
      digest: id,
      prefix: "p",
      last_four: "abcd",
    };
    await store
      .insertInto("api_keys")
      .values({
        ...key,
        created_at: 1,
        expires_at: null,
        revoked_at: null,
        last_used_at: null,
        rate_limit_rpm: null,
        max_in_flight: null,
        capture: null,
      })
      .execute();
    return id;
  }

  async function fill(store: Database, accountId: string): Promise<void> {
    const revision = await storeRevision(store, accountId, [{ trajectory: "t", step: 0 }]);
    const runId = await storeRun(store, accountId, revision, {
      predictions: [[{ verdicts: [{ pass: true, score: 1 }] }]],
    });
    const fields = Array.from({ length: 40 }, (_, index) => resultAt(index));
    await storeResults(store, accountId, [...fields, { metadata: { app: "run", runId } }]);
  }

  async function rowsOf(store: Database, accountId: string): Promise<number> {
    let rows = 0;
    for (const { table, owner } of accountTables) {
      // The write-ahead log grows by the command's changes.
      if (owner.of !== "account" || table === "audit_events") continue;
      const { rows: counted } = await sql<{ count: number }>`select count(*) as count
        from ${sql.table(table)} where account_id = ${accountId}`.execute(store);
      rows += Number(counted[0]?.count);
    }
    return rows;
  }

  test("A user who is alone in an account is deleted with everything in it, after a count, and nobody else's", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const store = opened.database;
    const accountId = Bun.randomUUIDv7();
    const id = await addUser(store, accountId, "ada@example.org");
    await fill(store, accountId);
    await fill(store, opened.owner.account_id);
    const before = await rowsOf(store, opened.owner.account_id);

    const asked = await erase("ada@example.org");
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining("evaluation_results: 41")]);
    expect(asked.stdout).toContain("Nothing was deleted");
    const erased = await erase("--yes", "ada@example.org");
    expect([erased.code, erased.stdout]).toEqual([0, expect.stringContaining("api_keys: 1")]);

    expect(await rowsOf(store, accountId)).toBe(0);
    for (const [table, column] of [
      ["users", "id"],
      ["api_keys", "user_id"],
    ] as const) {
      const left = await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${id}`.execute(
        store,
      );
      expect(left.rows).toEqual([]);
    }
    for (const table of ["dataset_samples", "run_verdicts", "evaluation_payloads"]) {
      const { rows } = await sql<{
        count: number;
      }>`select count(*) as count from ${sql.table(table)}`.execute(store);
      expect([table, Number(rows[0]?.count)]).toEqual([table, table === "evaluation_payloads" ? 41 : 1]);
    }
    expect(await rowsOf(store, opened.owner.account_id)).toBe(before);
    await expectSoundRollups(presage, store);
  });

  test("The last owner of an account that others are in is not deleted, and keeps access", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const accountId = Bun.randomUUIDv7();
    const owner = await addUser(opened.database, accountId, "kim@example.org");
    await addUser(opened.database, accountId, "lee@example.org", "member");
    const erased = await erase("--yes", "kim@example.org");
    expect([erased.code, erased.stderr]).toEqual([1, expect.stringContaining("someone else an owner first")]);
    const key = await opened.database
      .selectFrom("api_keys")
      .select("revoked_at")
      .where("user_id", "=", owner)
      .executeTakeFirstOrThrow();
    expect(key.revoked_at).toBeNull();
  });

  /** Confirms, and runs `work` in a transaction that holds the account's lock once the command has said what it will delete. */
  async function eraseMeanwhile(
    store: Database,
    accountId: string,
    email: string,
    change: (transaction: Database) => Promise<unknown>,
  ): Promise<{ code: number; stderr: string }> {
    const child = Bun.spawn([...presageCommand, "users", "erase", "--yes", email], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_DATABASE_URL: presage.databaseUrl },
      stdout: "pipe",
      stderr: "pipe",
    });
    killAfterTests(child);
    const stderr = new Response(child.stderr).text();
    await store.transaction().execute(async (transaction) => {
      await lockAccount(transaction, accountId);
      await change(transaction);
      let said = "";
      for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += part;
        if (said.includes("account's data stays") || said.includes("No one else is in")) break;
      }
      // Gives a command that fails to wait for the lock the time to get ahead.
      await Bun.sleep(300);
    });
    return { code: await child.exited, stderr: await stderr };
  }

  // SQLite's one writer would have to wait to open the database.
  if (database.name === "PostgreSQL")
    test("The last owner stays also if the other one is demoted while the command runs", async () => {
      await using opened = await openStore(presage.databaseUrl);
      const accountId = Bun.randomUUIDv7();
      const owner = await addUser(opened.database, accountId, "ann@example.org");
      const other = await addUser(opened.database, accountId, "ben@example.org");
      const erased = await eraseMeanwhile(opened.database, accountId, "ann@example.org", (transaction) =>
        transaction.updateTable("users").set({ role: "member" }).where("id", "=", other).execute(),
      );
      expect([erased.code, erased.stderr]).toEqual([
        1,
        expect.stringContaining("someone else an owner first"),
      ]);
      expect(await selectUser(opened.database, owner)).toMatchObject({ role: "owner" });
    });

  // SQLite's one writer would have to wait to open the database.
  if (database.name === "PostgreSQL")
    test("Nothing is deleted if somebody joins the account while the command runs", async () => {
      await using opened = await openStore(presage.databaseUrl);
      const accountId = Bun.randomUUIDv7();
      const owner = await addUser(opened.database, accountId, "mia@example.org");
      await fill(opened.database, accountId);
      const before = await rowsOf(opened.database, accountId);
      const erased = await eraseMeanwhile(opened.database, accountId, "mia@example.org", (transaction) =>
        addUser(transaction, accountId, "new@example.org"),
      );
      expect([erased.code, erased.stderr]).toEqual([1, expect.stringContaining("joined the account")]);
      expect(await rowsOf(opened.database, accountId)).toBe(before);
      expect(await selectUser(opened.database, owner)).toBeDefined();
    });

  test("An owner at a former provider cannot sign in, so the last other one is not deleted", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const accountId = Bun.randomUUIDv7();
    await addUser(opened.database, accountId, "ida@example.org", "owner", "https://new.example");
    await addUser(opened.database, accountId, "jon@example.org", "owner", "https://former.example");
    const change = { userId: "", role: "member", issuer: "https://new.example" } as const;
    const changer = { accountId, actor: anyRequester(accountId).actor };
    const { id } = await getUser(opened.database, "ida@example.org");
    expect(changeRoleOf(opened.database, changer, { ...change, userId: id })).rejects.toThrow("someone else");
    const erased = await erase("--yes", "jon@example.org");
    // In local mode, neither can sign in.
    expect([erased.code, erased.stderr]).toEqual([1, expect.stringContaining("someone else an owner first")]);
  });

  test("What servers store for a while after the end of access is deleted too", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const store = opened.database;
    const accountId = Bun.randomUUIDv7();
    const id = await addUser(store, accountId, "sam@example.org");
    await fill(store, accountId);
    const erasing = erase("--yes", "sam@example.org");
    const isEnded = async () =>
      (await store.selectFrom("api_keys").select("revoked_at").where("user_id", "=", id).executeTakeFirst())
        ?.revoked_at !== null;
    expect(await eventually(isEnded, Boolean)).toBe(true);
    const runs = await store
      .selectFrom("runs")
      .select("status")
      .where("account_id", "=", accountId)
      .execute();
    expect(runs.filter(({ status }) => status !== "deleted")).toEqual([]);
    // Stores results like a server that still knows the key.
    for (const index of [1, 2, 3]) {
      await Bun.sleep(1_000);
      await storeResults(store, accountId, [resultAt(index)]);
    }
    const erased = await erasing;
    expect([erased.code, erased.stdout]).toEqual([0, expect.stringContaining("evaluation_results: 44")]);
    expect(await rowsOf(store, accountId)).toBe(0);
    expect(await selectUser(store, id)).toBeUndefined();
  });

  test("One of several users of an account is deleted, and the account's data stays", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const accountId = Bun.randomUUIDv7();
    await addUser(opened.database, accountId, "bob@example.org");
    await addUser(opened.database, accountId, "eve@example.org");
    await fill(opened.database, accountId);
    const before = await rowsOf(opened.database, accountId);
    const erased = await erase("--yes", "bob@example.org");
    expect([erased.code, erased.stdout]).toEqual([0, expect.stringContaining("users: 1")]);
    expect(await rowsOf(opened.database, accountId)).toBe(before);
    const users = await opened.database
      .selectFrom("users")
      .select("email")
      .where("account_id", "=", accountId)
      .execute();
    expect(users).toEqual([{ email: "eve@example.org" }]);
  });

  test("The owner is not deleted", async () => {
    await using opened = await openStore(presage.databaseUrl);
    const refused = await erase("--yes", opened.owner.id);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("created by Presage")]);
  });
});
