import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { Kysely, sql } from "kysely";
import type pg from "pg";
import { eventually } from "../../../../test/support/eventually.ts";
import { createPostgresDatabase } from "../../../../test/support/store/databases.ts";
import { connectTo } from "../../../../test/support/store/postgres.ts";
import { type Relay, startRelay } from "../../../../test/support/store/relay.ts";
import { slowTest } from "../../../../test/support/whole-run.ts";
import { isStoreUnavailable, isStoreUncertain } from "../store-error.ts";
import { type PostgresLimits, postgresDialect } from "./postgres-driver.ts";

interface Notes {
  notes: { body: string };
}

const limits: PostgresLimits = {
  idleInTransactionTimeoutMs: 300,
  lockTimeoutMs: 300,
  statementTimeoutMs: 600,
  responseTimeoutMs: 900,
};

let relay: Relay;
let outside: pg.Client;
let database: Kysely<Notes>;
let lost: Error[];

function open(isReadOnly = false, ofSession = limits): Kysely<Notes> {
  const url = new URL(directUrl);
  url.port = String(relay.port);
  const onConnectionLost = (error: Error) => void lost.push(error);
  return new Kysely<Notes>({
    dialect: postgresDialect(url.href, {
      maxConnections: 1,
      limits: ofSession,
      isReadOnly,
      onConnectionLost,
    }),
  });
}

let directUrl: string;

/** Ends connections that the previous test left behind. */
const endOthers =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

beforeAll(async () => {
  directUrl = await createPostgresDatabase();
});
beforeEach(async () => {
  lost = [];
  outside = await connectTo(directUrl);
  await outside.query(endOthers);
  await outside.query("drop table if exists notes");
  await outside.query("create table notes (body text unique)");
  relay = await startRelay(Number(new URL(directUrl).port));
  database = open();
});
afterEach(async () => {
  await database.destroy();
  await relay.stop();
  await outside.end();
});

const note = (body: string, on: Kysely<Notes> = database) =>
  on.insertInto("notes").values({ body }).execute();

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => "it did not fail",
    (error: unknown) => error,
  );
}

/** The notes as another connection sees them. */
async function notes(): Promise<string[]> {
  const { rows } = await outside.query<{ body: string }>("select body from notes order by body");
  return rows.map(({ body }) => body);
}

async function serversPid(): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  return rows[0]?.pid;
}

/** The states of the connections to the server. */
async function states(): Promise<string[]> {
  const { rows } = await outside.query<{ state: string }>(
    "select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  return rows.map(({ state }) => state);
}

test("a transaction without a response is rolled back, and the next one is not part of it", async () => {
  const pid = await serversPid();
  const failure = await failureOf(
    database.transaction().execute(async (transaction) => {
      await note("first", transaction);
      relay.silence();
      await note("second", transaction);
    }),
  );
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
  relay.resume();
  await note("next");
  expect(await notes()).toEqual(["next"]);
  expect(await serversPid()).not.toBe(pid);
  expect(await eventually(states, (all) => all.length === 1)).toEqual(["idle"]);
});

test("a transaction that could not begin leaves no open transaction", async () => {
  await serversPid();
  relay.silence();
  const failure = await failureOf(
    database.transaction().execute((transaction) => note("never", transaction)),
  );
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
  relay.resume();
  await note("next");
  await database.destroy();
  expect(await notes()).toEqual(["next"]);
});

test("a caller without a connection is told that the database is busy if the server responds to others", async () => {
  let isOver = false;
  const busy = database.transaction().execute(async (transaction) => {
    while (!isOver) await sql`select pg_sleep(0.1)`.execute(transaction);
  });
  await Bun.sleep(100);
  const failure = await failureOf(note("refused"));
  isOver = true;
  await busy;
  expect([(failure as { code?: unknown }).code, isStoreUnavailable(failure)]).toEqual(["overloaded", false]);
  expect(await notes()).toEqual([]);
});

test("a caller without a connection is told that the database is unavailable if the server does not respond", async () => {
  await database.destroy();
  database = open(false, { ...limits, responseTimeoutMs: 6_000 });
  await serversPid();
  relay.silence();
  const silent = failureOf(note("unanswered"));
  await Bun.sleep(100);
  expect(isStoreUnavailable(await failureOf(note("refused")))).toBe(true);
  relay.resume();
  await silent;
});

test("a commit without a response is uncertain", async () => {
  // With the protocol's terminator, because the session's settings also contain "committed".
  relay.holdAnswersTo("commit\0");
  const failure = await failureOf(
    database.transaction().execute((transaction) => note("kept after all", transaction)),
  );
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, true]);
  expect(await notes()).toEqual(["kept after all"]);
});

test("a write outside a transaction is uncertain without a response, a read is not", async () => {
  relay.holdAnswersTo("insert");
  const writing = await failureOf(note("kept after all"));
  expect([isStoreUnavailable(writing), isStoreUncertain(writing)]).toEqual([true, true]);
  relay.holdAnswersTo("select");
  const reading = await failureOf(database.selectFrom("notes").selectAll().execute());
  expect([isStoreUnavailable(reading), isStoreUncertain(reading)]).toEqual([true, false]);
  expect(await notes()).toEqual(["kept after all"]);
});

test("a transaction fails with certainty when the server closes its connection", async () => {
  const pid = await serversPid();
  const failure = await failureOf(
    database.transaction().execute(async (transaction) => {
      await note("never", transaction);
      await outside.query("select pg_terminate_backend($1)", [pid]);
      await note("never either", transaction);
    }),
  );
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
  await note("next");
  expect(await notes()).toEqual(["next"]);
});

test("an idle transaction is rolled back by the server and fails", async () => {
  const failure = await failureOf(
    database.transaction().execute(async (transaction) => {
      await note("never", transaction);
      await eventually(states, ({ length }) => length === 0);
    }),
  );
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
  await note("next");
  expect(await notes()).toEqual(["next"]);
});

test("waiting for a lock times out, and the connection stays usable", async () => {
  const pid = await serversPid();
  await outside.query("begin; lock table notes");
  const failure = await failureOf(note("never"));
  expect(failure).toMatchObject({ code: "55P03" });
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
  await outside.query("rollback");
  await note("next");
  expect(await serversPid()).toBe(pid);
});

test("a long statement times out, and the connection stays usable", async () => {
  const pid = await serversPid();
  const failure = await failureOf(sql`select pg_sleep(5)`.execute(database));
  expect(failure).toMatchObject({ code: "57014" });
  expect(isStoreUnavailable(failure)).toBe(true);
  expect(await serversPid()).toBe(pid);
});

test("the server's error is reported even if the rollback after it gets no response", async () => {
  await note("taken");
  relay.holdAnswersTo("rollback");
  const failure = await failureOf(
    database.transaction().execute((transaction) => note("taken", transaction)),
  );
  expect(failure).toMatchObject({ code: "23505" });
  relay.resume();
  await note("next");
  await database.destroy();
  expect(await notes()).toEqual(["next", "taken"]);
});

test("a transaction that hid a failed statement is not reported as committed", async () => {
  await note("taken");
  const failure = await failureOf(
    database.transaction().execute(async (transaction) => {
      await note("never", transaction);
      await note("taken", transaction).catch(() => {});
    }),
  );
  expect(failure).toMatchObject({
    code: "store_unavailable",
    cause: { message: expect.stringContaining("rolled back") },
  });
  await note("next");
  expect(await notes()).toEqual(["next", "taken"]);
});

test("a lost idle connection is reported and replaced", async () => {
  await outside.query("select pg_terminate_backend($1)", [await serversPid()]);
  expect(
    (
      await eventually(
        () => lost,
        (all) => all.length > 0,
      )
    ).length,
  ).toBe(1);
  await note("next");
  expect(await notes()).toEqual(["next"]);
});

test("an unreachable server is unavailable", async () => {
  await relay.stop();
  const failure = await failureOf(note("never"));
  expect([isStoreUnavailable(failure), isStoreUncertain(failure)]).toEqual([true, false]);
});

test("a read-only session refuses writes", async () => {
  const reader = open(true);
  expect(await failureOf(note("never", reader))).toMatchObject({ code: "25006" });
  expect(await reader.selectFrom("notes").selectAll().execute()).toEqual([]);
  await reader.destroy();
});

slowTest("a connection to a read-only server is replaced", async () => {
  const readOnlyByDefault = `alter database ${new URL(directUrl).pathname.slice(1)} set default_transaction_read_only`;
  await outside.query(`${readOnlyByDefault} = on`);
  expect(await failureOf(note("never"))).toMatchObject({ code: "25006" });
  await outside.query(`${readOnlyByDefault} = off`);
  const refused = async () => (await failureOf(note("in the end"))) !== "it did not fail";
  expect(await eventually(refused, (isRefused) => !isRefused, 20_000)).toBe(false);
});

slowTest("a reading connection is replaced, as no read fails on a read-only server", async () => {
  const reader = open(true);
  const pid = async () =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(reader)).rows[0]?.pid;
  const first = await pid();
  expect(await eventually(pid, (now) => now !== first, 20_000)).not.toBe(first);
  await reader.destroy();
});

test("after waiting for a row a statement sees its new version, even if the server's default isolation is stricter", async () => {
  await outside.query(`alter database ${new URL(directUrl).pathname.slice(1)}
    set default_transaction_isolation = 'serializable'`);
  expect((await sql`show transaction_isolation`.execute(database)).rows).toEqual([
    { transaction_isolation: "read committed" },
  ]);
});

test("a transaction of repeatable reads sees one state, and the next one what came since", async () => {
  const notes = () =>
    database
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (transaction) => {
        const before = await transaction.selectFrom("notes").selectAll().execute();
        await outside.query("insert into notes values (gen_random_uuid()::text)");
        return [before.length, (await transaction.selectFrom("notes").selectAll().execute()).length];
      });
  const [first, again] = await notes();
  expect(again).toBe(first);
  expect((await notes())[0]).toBe(Number(first) + 1);
});

test("destroy waits for statements in progress, but not for a server that does not respond", async () => {
  const slow = sql`select pg_sleep(0.4)`.execute(database);
  await Bun.sleep(100);
  const ended = database.destroy();
  await slow;
  await ended;
  expect(await eventually(states, (all) => all.length === 0)).toEqual([]);

  const other = open();
  await sql`select 1`.execute(other);
  relay.silence();
  const startedAtMs = performance.now();
  const unanswered = failureOf(sql`select 1`.execute(other));
  await Bun.sleep(50);
  await other.destroy();
  expect(isStoreUnavailable(await unanswered)).toBe(true);
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
});

test("after destroy no statement is sent", async () => {
  await note("first");
  await database.destroy();
  await expect(note("second")).rejects.toThrow("destroyed");
});
