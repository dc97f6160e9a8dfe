import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, expectEventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { launchPresage, type SpawnedPresage } from "../support/presage/spawn-presage.ts";
import { createPostgresDatabase } from "../support/store/databases.ts";
import { connectTo, countLockWaits, type PostgresServer, startPostgres } from "../support/store/postgres.ts";
import { startRelay } from "../support/store/relay.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
}, 300_000);
afterAll(() => postgres.remove(), 60_000);

const waiting = "PostgreSQL is unavailable; waiting for it for up to 60 s";

async function countLines({ stdout }: SpawnedPresage, message: string): Promise<number> {
  return (await stdout()).split("\n").filter((line) => line.includes(message)).length;
}

async function readiness({ url }: SpawnedPresage): Promise<string> {
  return await fetch(`${url}/ready`).then(
    async (response) => `${response.status} ${await response.text()}`,
    () => "nothing listens",
  );
}

const starting = '503 {"status":"starting"}';

async function expectWaiting(presage: SpawnedPresage): Promise<void> {
  await expectEventually(() => countLines(presage, waiting), 1, 30_000);
  expect(await readiness(presage)).toBe(starting);
  expect((await fetch(`${presage.url}/health`)).status).toBe(200);
}

async function expectReady(presage: SpawnedPresage): Promise<void> {
  await expectEventually(async () => (await fetch(`${presage.url}/ready`)).status, 200, 30_000);
  expect((await presage.call("GET", "/v1/me")).status).toBe(200);
  expect(await countLines(presage, waiting)).toBe(1);
}

/** The same database through a relay. */
async function relayTo(directUrl: string) {
  const relay = await startRelay(Number(new URL(directUrl).port));
  const url = new URL(directUrl);
  url.port = String(relay.port);
  return { ...relay, url: url.href };
}

test("a server that starts before PostgreSQL waits for it and then serves", async () => {
  const url = await postgres.createDatabase();
  await postgres.stop();
  await using presage = await launchPresage({ PRESAGE_DATABASE_URL: url });
  await expectWaiting(presage);
  await postgres.start();
  await expectReady(presage);
}, 300_000);

test("a PostgreSQL that accepts connections and does not respond is waited for", async () => {
  const relay = await relayTo(await createPostgresDatabase());
  relay.silence();
  await using presage = await launchPresage({ PRESAGE_DATABASE_URL: relay.url });
  await expectWaiting(presage);
  relay.resume();
  await expectReady(presage);
  presage.kill("SIGKILL");
  await presage.exited;
  await relay.stop();
}, 300_000);

test("a PostgreSQL that falls silent during the migrations is waited for", async () => {
  const directUrl = await createPostgresDatabase();
  const relay = await relayTo(directUrl);
  const [holder, watcher] = await Promise.all([connectTo(directUrl), connectTo(directUrl)]);
  await holder.query(
    "create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)",
  );
  await holder.query("begin; lock table kysely_migration in share mode");
  await using presage = await launchPresage({ PRESAGE_DATABASE_URL: relay.url });
  expect(
    await eventually(
      () => countLockWaits(watcher),
      (waits) => waits > 0,
    ),
  ).toBeGreaterThan(0);
  expect(await countLines(presage, waiting)).toBe(0);
  relay.silence();
  await holder.query("rollback");
  await Promise.all([holder.end(), watcher.end()]);
  await expectWaiting(presage);
  relay.resume();
  await expectReady(presage);
  presage.kill("SIGKILL");
  await presage.exited;
  await relay.stop();
}, 300_000);

test("SIGTERM ends a server that waits for PostgreSQL", async () => {
  await using presage = await launchPresage({
    PRESAGE_DATABASE_URL: `postgres://presage@127.0.0.1:${await freePort()}/presage`,
  });
  await expectWaiting(presage);
  presage.kill("SIGTERM");
  expect(await presage.exited).toBe(0);
  expect(await presage.stderr()).toBe("");
});

test.each([
  [
    "a wrong password",
    (url: URL) => Object.assign(url, { password: "wrong" }),
    "password authentication failed",
  ],
  ["no password", (url: URL) => Object.assign(url, { password: "" }), "password"],
  [
    "a database that does not exist",
    (url: URL) => Object.assign(url, { pathname: "/none" }),
    '"none" does not exist',
  ],
])(
  "with %s the server ends at once with one line",
  async (_, change, reason) => {
    const { href } = change(new URL(postgres.url));
    await using presage = await launchPresage({ PRESAGE_DATABASE_URL: href });
    expect(await presage.exited).toBe(1);
    const stderr = await presage.stderr();
    expect(stderr).toMatch(/^Could not open the database \(PRESAGE_DATABASE_URL\): .*\n$/);
    expect(stderr).toContain(reason);
    expect(await countLines(presage, waiting)).toBe(0);
  },
  120_000,
);

test.each(["migrate", "keys list", "sign-in"])(
  "presage %s does not wait for PostgreSQL",
  async (command) => {
    const { code, stdout, stderr } = await runPresage(command.split(" "), {
      PRESAGE_DATABASE_URL: `postgres://presage@127.0.0.1:${await freePort()}/presage`,
    });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Could not open the database \(PRESAGE_DATABASE_URL\): .*ECONNREFUSED.*\n$/);
  },
  120_000,
);
