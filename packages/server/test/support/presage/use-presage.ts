import { afterAll, beforeAll } from "bun:test";
import type { TestDatabase } from "../store/databases.ts";
import { startPresage, type TestPresage } from "./presage.ts";

type Options = { database?: Pick<TestDatabase, "create"> } & { [name: `PRESAGE_${string}`]: string };

/** Starts a server before the tests of this block, on a new database if one is given, and stops it after them. */
export function usePresage({
  database,
  ...environment
}: Options = {}): TestPresage & { databaseUrl: string } {
  const presage = {} as TestPresage & { databaseUrl: string };
  beforeAll(async () => {
    const databaseUrl = (await database?.create()) ?? "sqlite::memory:";
    const started = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl, ...environment });
    Object.assign(presage, { databaseUrl }, started);
  });
  afterAll(() => presage.stop());
  return presage;
}
