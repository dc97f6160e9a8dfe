import { afterAll, beforeAll } from "bun:test";
import type { RawEnvironment } from "../../../src/config.ts";
import type { TestDatabase } from "../store/databases.ts";
import { startUpstream, type TestUpstream } from "../upstream/upstream.ts";
import { startPresage, type TestPresage } from "./presage.ts";

/** Starts a server before the tests of this block, on a new database if one is given, and stops it after them. */
export function usePresage(database?: Pick<TestDatabase, "create">, environment: RawEnvironment = {}) {
  const presage = {} as TestPresage & { databaseUrl: string };
  beforeAll(async () => {
    const databaseUrl = (await database?.create()) ?? "sqlite::memory:";
    const started = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl, ...environment });
    Object.assign(presage, { databaseUrl }, started);
  });
  afterAll(() => presage.stop());
  return presage;
}

/** Starts an upstream for the tests of this block and stops it after them. */
export function useUpstream(): TestUpstream {
  const upstream = startUpstream();
  afterAll(() => upstream.stop());
  return upstream;
}
