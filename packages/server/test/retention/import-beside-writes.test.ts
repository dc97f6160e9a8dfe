import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localIssuer } from "../../src/identity/users/users-store.ts";
import { expectEventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { mainFile } from "../support/presage/main-file.ts";
import { callWithKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onSqlite } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";
import { expectSoundRollups } from "./expect-sound-rollups.ts";
import { resultAt } from "./many-results.ts";

const exportedResults = 400;
const evaluation = {
  evaluators: [{ evaluator: "exact-match" }],
  evaluated_model_output: "An open door.",
  evaluated_model_gold_answer: "An open door.",
  tags: { env: "prod" },
};

onSqlite((database) => {
  const presage = usePresage({ database });
  let opened: Awaited<ReturnType<typeof openStore>>;
  let folder: string;
  let lines: string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "presage-test-"));
    const from = await database.create();
    {
      await using source = await openStore(from);
      const fields = Array.from({ length: exportedResults }, (_, index) => resultAt(index));
      await storeResults(source.database, source.owner.account_id, fields);
    }
    const file = join(folder, "account.jsonl");
    expect((await runPresage(["export", file], { PRESAGE_DATABASE_URL: from })).code).toBe(0);
    lines = (await Bun.file(file).text()).split("\n");
    opened = await openStore(presage.databaseUrl);
  });
  afterAll(async () => {
    await opened.destroy();
    await rm(folder, { recursive: true, force: true });
  });

  /** Another account, and a way to store results in it. */
  async function addAccount(name: string) {
    const [accountId, userId, secret] = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), `key-of-${name}`.repeat(4)];
    const store = opened.database;
    await store.insertInto("accounts").values({ id: accountId, name, created_at: 1 }).execute();
    const user = { email: null, name, role: "owner", created_at: 1 } as const;
    await store
      .insertInto("users")
      .values({ id: userId, account_id: accountId, oidc_issuer: "test", oidc_subject: name, ...user })
      .execute();
    const ends = { expires_at: null, revoked_at: null, last_used_at: null };
    const limits = { rate_limit_rpm: null, max_in_flight: null, capture: null, scopes: null };
    const shown = { name: "k", prefix: "p", last_four: "abcd", digest: opened.keyDigest(secret) };
    await store
      .insertInto("api_keys")
      .values({ id: Bun.randomUUIDv7(), user_id: userId, created_at: 1, ...shown, ...ends, ...limits })
      .execute();
    return async () => {
      const headers = { "x-api-key": secret };
      const response = await callWithKey(presage.url, "POST", "/v1/evaluate", evaluation, headers);
      expect(response.status).toBe(200);
    };
  }

  const countImports = async () => (await opened.database.selectFrom("imports").selectAll().execute()).length;
  const countStored = async () =>
    (
      await opened.database
        .selectFrom("evaluation_results")
        .innerJoin("imports", "imports.account_id", "evaluation_results.account_id")
        .select("id")
        .execute()
    ).length;
  const countMine = async () => {
    const { groups } = await evaluationResultsClient(() => presage).summary({});
    return groups[0]?.count ?? 0;
  };

  /** An import that has stored some results and waits for the rest. */
  async function importInPart(name: string, text: string[], ...args: string[]) {
    const pipe = join(folder, name);
    expect(await Bun.spawn(["mkfifo", pipe]).exited).toBe(0);
    const child = Bun.spawn([process.execPath, mainFile, "import", pipe, ...args], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_DATABASE_URL: presage.databaseUrl },
      stdout: "pipe",
      stderr: "pipe",
    });
    killAfterTests(child);
    const stderr = new Response(child.stderr).text();
    const writing = createWriteStream(pipe);
    const half = text.length - exportedResults / 2;
    await new Promise((written) => writing.write(`${text.slice(0, half).join("\n")}\n`, written));
    await expectEventually(async () => (await countStored()) > 0, true);
    return {
      child,
      writing,
      async finish() {
        writing.end(text.slice(half).join("\n"));
        return { code: await child.exited, stderr: await stderr };
      },
    };
  }

  test("What an import leaves that is killed is deleted by a server that runs", async () => {
    const { child, writing } = await importInPart("killed", lines);
    child.kill("SIGKILL");
    await child.exited;
    writing.destroy();
    await expectEventually(countImports, 0);
    const left = await opened.database.selectFrom("evaluation_results").select("id").execute();
    expect(left).toEqual([]);
    const accounts = await opened.database.selectFrom("accounts").select("name").execute();
    expect(accounts).toEqual([{ name: "default" }]);
    await expectSoundRollups(presage, opened.database);
  });

  test("Others store results beside an import, nobody sees it before its end, and all of it is counted", async () => {
    const storeOther = await addAccount("other");
    const importing = await importInPart("whole", lines);
    for (let stored = 0; stored < 3; stored += 1) await storeOther();
    // They are counted by tag while earlier numbers are still to come.
    await expectEventually(async () => {
      const counted = opened.database.selectFrom("evaluation_tag_values").select("value");
      const names = opened.database.selectFrom("accounts").select("id").where("name", "=", "other");
      return (await counted.where("account_id", "in", names).execute()).length;
    }, 1);
    expect(await countMine()).toBe(0);
    const refused = await runPresage(["export", join(folder, "none.jsonl")], {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
    });
    expect(refused.stderr).toContain("choose one with --account: default, other.");

    expect(await importing.finish()).toEqual({ code: 0, stderr: expect.stringContaining("are revoked") });
    // Servers know a key's account for some seconds.
    await expectEventually(countMine, exportedResults);
    await storeOther();
    expect((await presage.call("POST", "/v1/evaluate", evaluation)).status).toBe(200);
    await expectSoundRollups(presage, opened.database);
    const rows = await opened.database.selectFrom("evaluation_results").select("id").execute();
    expect(rows.length).toBe(exportedResults + 3 + 2);
  });

  test("An import into an account that something is stored in meanwhile leaves nothing", async () => {
    const storeThird = await addAccount("third");
    const strangers = [lines[0]?.replaceAll(localIssuer, "https://id.example") ?? "", ...lines.slice(1)];
    const importing = await importInPart("late", strangers, "--account", "third");
    await storeThird();
    expect(await importing.finish()).toEqual({
      code: 1,
      stderr: expect.stringContaining("has data already"),
    });
    expect(await countImports()).toBe(0);
    const rows = await opened.database.selectFrom("evaluation_results").select("id").execute();
    expect(rows.length).toBe(exportedResults + 3 + 2 + 1);
    await expectSoundRollups(presage, opened.database);
  });
});
