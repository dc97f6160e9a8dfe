import { expect, test } from "bun:test";
import {
  isPostgresDown,
  whilePostgresResponds,
} from "../../src/platform/storage/postgres/connect-postgres.ts";
import { createPostgresDatabase } from "../support/store/databases.ts";
import { connectTo } from "../support/store/postgres.ts";
import { startRelay } from "../support/store/relay.ts";

test("a statement that takes longer than the silence allowed is not interrupted while PostgreSQL responds", async () => {
  const url = await createPostgresDatabase();
  const client = await connectTo(url);
  const isAborted = await whilePostgresResponds(url, async (signal) => {
    await client.query("select pg_sleep(13)");
    return signal.aborted;
  });
  expect(isAborted).toBe(false);
  await client.end();
});

test("work on a silent PostgreSQL is aborted", async () => {
  const url = new URL(await createPostgresDatabase());
  const relay = await startRelay(Number(url.port));
  url.port = String(relay.port);
  relay.silence();
  const work = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const failure: unknown = await whilePostgresResponds(url.href, work).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "store_unavailable", cause: { message: "no response for 10 s" } });
  expect(isPostgresDown(failure)).toBe(true);
  await relay.stop();
});

test("the error of the work is passed on", async () => {
  const url = await createPostgresDatabase();
  const work = () => Promise.reject(new Error("out of disk"));
  await expect(whilePostgresResponds(url, work)).rejects.toThrow("out of disk");
});
