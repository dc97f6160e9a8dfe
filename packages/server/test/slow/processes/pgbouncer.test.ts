import { expect, test } from "bun:test";
import { runPresageProcess } from "../../support/presage/run-presage.ts";
import { spawnPresage } from "../../support/presage/spawn-presage.ts";
import { kinds, makeFixtures, openLedger } from "../../support/store/change-ledger.ts";
import { createPostgresDatabase } from "../../support/store/databases.ts";
import { pgbouncerProgram, startPgbouncer } from "../../support/store/start-pgbouncer.ts";

test.if(pgbouncerProgram !== undefined).each(["serve", "migrate", "doctor"])(
  "presage %s refuses a pooler that gives each transaction another session, and says what helps",
  async (command) => {
    await using pgbouncer = await startPgbouncer(await createPostgresDatabase(), "transaction");
    const { code, stdout, stderr } = await runPresageProcess([command], {
      PRESAGE_DATABASE_URL: pgbouncer.url,
      PRESAGE_PORT: "0",
    });
    expect(code).toBe(1);
    expect(command === "doctor" ? stdout : stderr).toContain("a pooler in transaction mode is in between");
    if (command !== "doctor") expect(stderr).toMatch(/^[^\n]*pool_mode = session[^\n]*\n$/);
  },
  120_000,
);

test.if(pgbouncerProgram !== undefined)(
  "through a pooler that gives each connection its own session, everything works",
  async () => {
    const url = await createPostgresDatabase();
    await using pgbouncer = await startPgbouncer(url, "session");
    await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: pgbouncer.url });
    const ledger = openLedger(presage, await makeFixtures(presage));
    const asked = await Promise.all([...kinds, ...kinds].map((kind) => ledger.ask(kind)));
    expect(asked.filter(({ status }) => status >= 300)).toEqual([]);
    expect(await ledger.contradictions(url)).toEqual([]);
  },
  120_000,
);
