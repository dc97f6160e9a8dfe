import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createWriteStream, existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Dataset, Run } from "@presage/contract";
import { sql } from "kysely";
import { localIssuer } from "../../src/accounts/users-store.ts";
import { closeAccount, reopenAccount } from "../../src/platform/storage/closed-accounts-store.ts";
import { insertCheck } from "../../src/reality/checks-store.ts";
import { writeUsage } from "../../src/usage/usage-store.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { killAfterTests } from "../support/presage/child-processes.ts";
import { mainFile } from "../support/presage/main-file.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { totalsOf } from "../support/resources/usage.ts";
import { signInLocally } from "../support/sign-in/session.ts";
import { createPostgresDatabase, onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";
import { expectSoundRollups } from "./expect-sound-rollups.ts";
import { resultAt } from "./many-results.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_CAPTURE: "all" });
  let folder: string;
  let exported: string;

  const run = (url: string, ...args: string[]) =>
    runPresage(["account", ...args], { PRESAGE_DATABASE_URL: url });
  const read = (name: string) => Bun.file(join(folder, name)).text();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "presage-test-"));
    await makeEverything();
    const ran = await run(presage.databaseUrl, "export", join(folder, "first.jsonl"));
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining("no secrets of keys")]);
    exported = await read("first.jsonl");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function make(path: string, body?: unknown) {
    const response = await presage.call("POST", path, body);
    expect([path, response.ok]).toEqual([path, true]);
    // biome-ignore lint/suspicious/noExplicitAny: each of the answers has a shape of its own
    return (await response.json()) as any;
  }

  async function makeEverything(): Promise<void> {
    const interaction = { state: "A door.", action: "open it" };
    await make("/v1/predict", { interaction });
    await make("/v1/evaluator-profiles", {
      evaluator_family: "contains",
      name: "has-door",
      config: { substrings: ["door"] },
    });
    await make("/v1/error-taxonomy-revision", {
      error_taxonomy_name: "mistakes",
      body: { categories: ["form"] },
      labels: ["now", "Then"],
    });
    await make("/v1/projects", { name: "kitchen" });
    const dataset = Dataset.parse(
      await make("/v1/datasets", { name: "doors", change: { paths: ["$.doors"] } }),
    );
    const sample = { trajectory_id: "t", step: 0, interaction, next_state: "An open door." };
    await make(`/v1/datasets/${dataset.id}/revisions`, sample);
    const { id } = Run.parse(
      await make("/v1/runs", {
        dataset_id: dataset.id,
        target: { baseline: "no-change" },
        evaluators: [{ evaluator: "exact-match" }],
      }),
    );
    await eventually(
      async () => Run.parse(await (await presage.call("GET", `/v1/runs/${id}`)).json()).status,
      (status) => status === "finished",
    );
    await make("/v1/shares", { kind: "run", ids: [id] });
    await make("/v1/runs", {
      dataset_id: dataset.id,
      target: { predictions: "imported" },
      evaluators: [{ evaluator: "exact-match" }],
    });
    const { episode_id } = await make("/v1/episodes", { environment: "sandbox", index: 0 });
    await make(`/v1/episodes/${episode_id}/step`, { action: "open door" });
    await using opened = await openStore(presage.databaseUrl);
    const { account_id } = opened.owner;
    const fields = Array.from({ length: 60 }, (_, index) => resultAt(index));
    const [first] = await storeResults(opened.database, account_id, fields.slice(1));
    await make(`/v1/evaluation-results/${first?.id}/correction`, { pass: false, score_raw: 0.1 });
    const [key] = await opened.database.selectFrom("api_keys").select("id").execute();
    const budget = { account_id, limit_micros: 12_500_000, stops: 1 as const, warned_month: 0 };
    const budgets = ["", key?.id ?? ""].map((api_key_id) => ({ ...budget, api_key_id }));
    await opened.database.insertInto("budgets").values(budgets).execute();
    // Usage of the dashboard's user, whose id is different after the import.
    const counted = { accountId: account_id, promptTokens: 5, model: "test-model" };
    const totals = [opened.owner.id, key?.id].map((keyId) => totalsOf(new Date(), { ...counted, keyId }));
    await writeUsage(opened.database, new Map(totals.map((one, index) => [String(index), one])));
    await insertCheck(opened.database, {
      ...{ id: Bun.randomUUIDv7(), account_id, name: "lab", environment: null, environment_id: null },
      ...{ environment_revision: null, source: "episodes", real: "lab", recordings: null, status: "running" },
      ...{ drawn_until: null, false_success_limit: null, episodes: 0, created_by: opened.owner.id },
    });
    await make(`/v1/evaluation-results/${first?.id}/labels`, { label: "pass", annotator: "ada" });
    await make(`/v1/runs/${id}/label-sample`, { size: 1 });
    const table = opened.database.selectFrom("usage_counts").select("hour");
    const predictions = opened.database.selectFrom("predictions").select("id").where("source", "=", "live");
    await eventually(
      async () => [await table.execute(), await predictions.execute()],
      (found) => found.every((rows) => rows.length > 0),
    );
  }

  test("A file that is missing, and a directory, are refused before anything is done", async () => {
    const missing = join(folder, "no", "file.jsonl");
    for (const [command, file, said] of [
      ["import", missing, `There is no file ${missing}`],
      ["import", folder, `There is no file ${folder}`],
      ["export", missing, `The directory of ${missing} does not exist`],
      ["export", folder, `${folder} is a directory. Name a file.`],
    ] as const) {
      const refused = await run(presage.databaseUrl, command, file);
      expect([refused.code, refused.stderr.trim()]).toEqual([1, said]);
    }
  });

  test("What was exported and imported into an empty database is exported as the same file, and is counted", async () => {
    const tables = new Set(exported.split("\n").map((line) => line && JSON.parse(line).table));
    expect(tables.size).toBeGreaterThan(18);
    expect(exported).not.toContain(testKey);
    const check = exported.split("\n").find((line) => line.startsWith('{"table":"reality_checks"'));
    // Only one of the two servers continues the check.
    expect(check).toContain('"status":"paused","reason":"It was exported before its end."');
    const url =
      database.name === "SQLite"
        ? await database.create()
        : await createPostgresDatabase("template template0 locale_provider icu icu_locale 'en'");
    expect((await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url })).code).toBe(0);
    const imported = await run(url, "import", join(folder, "first.jsonl"));
    expect([imported.code, imported.stderr]).toEqual([0, expect.stringContaining("are revoked")]);
    const again = await run(url, "export", join(folder, "second.jsonl"));
    expect(again.code).toBe(0);
    expect((await read("second.jsonl")).split("\n")).toEqual(exported.split("\n"));

    const refused = await run(url, "import", join(folder, "first.jsonl"));
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("already has data")]);
    const other = await startPresage({ PRESAGE_DATABASE_URL: url });
    await using opened = await openStore(url);
    await expectSoundRollups(other, opened.database);
    expect(exported).toContain('{"table":"shares","row":');
    // A link works where it was made, and nowhere else.
    const shares = await other.call("GET", "/v1/shares");
    expect([shares.status, await shares.json()]).toEqual([200, { data: [], next: null }]);
    // The next stored result gets its own number.
    await storeResults(opened.database, opened.owner.account_id, [resultAt(1)]);
    await expectSoundRollups(other, opened.database);
    await other.stop();
  });

  test("After a sign-in and a new key, a server has nothing that an import would mix with, and the advice fits", async () => {
    const url = await database.create();
    const fresh = await startPresage({ PRESAGE_DATABASE_URL: url });
    await signInLocally(fresh);
    const created = await runPresage(["keys", "create", "--name", "laptop"], { PRESAGE_DATABASE_URL: url });
    expect(created.code).toBe(0);
    await fresh.stop();
    const imported = await run(url, "import", join(folder, "first.jsonl"));
    expect([imported.code, imported.stderr]).toEqual([0, expect.stringContaining("are revoked")]);
    // The owner is in the file and has an account here.
    const again = await run(url, "import", join(folder, "first.jsonl"));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("a new database")]);
    expect(again.stderr).not.toContain("--account");
    const [header = "", ...rows] = exported.split("\n");
    const strangers = header.replaceAll(localIssuer, "https://id.example");
    await Bun.write(join(folder, "strangers.jsonl"), [strangers, ...rows].join("\n"));
    const advised = await run(url, "import", join(folder, "strangers.jsonl"));
    expect([advised.code, advised.stderr]).toEqual([1, expect.stringContaining("--account")]);
  });

  test("Nobody else on the machine can read an export, and what is there already is not written to", async () => {
    expect((await stat(join(folder, "first.jsonl"))).mode & 0o777).toBe(0o600);
    const partial = join(folder, "other.jsonl.partial");
    await Bun.write(partial, "another's");
    const ran = await run(presage.databaseUrl, "export", join(folder, "other.jsonl"));
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining("other.jsonl.partial is there already"),
    ]);
    expect(await Bun.file(partial).text()).toBe("another's");
  });

  test("Servers keep writing during an export", async () => {
    if (database.name !== "SQLite") return;
    const url = await database.create();
    await using source = await openStore(url);
    const { account_id } = source.owner;
    await sql`insert into audit_events (id, account_id, created_at, actor_kind, action, object_id, detail)
      with recursive many(n) as (select 1 union all select n + 1 from many where n < 100000)
      select 'many-' || n, ${account_id}, n, 'command_line', 'key.create', 'k', '{}' from many`.execute(
      source.database,
    );
    const file = join(folder, "beside.jsonl");
    const ran = run(url, "export", file);
    const writer = new Database(url.slice("sqlite:".length));
    let writes = 0;
    while ((await Promise.race([ran, Bun.sleep(10)])) === undefined) {
      if (!existsSync(`${file}.partial`)) continue;
      try {
        writer.run("update accounts set name = name");
        writes += 1;
      } catch {
        // The database is locked.
      }
    }
    writer.close();
    expect([(await ran).code, (await ran).stderr]).toEqual([0, expect.stringContaining("no secrets")]);
    expect(writes).toBeGreaterThan(5);
  });

  test("Users keep when they were made, and events by whom and about whom they are", async () => {
    const url = await database.create();
    const from = await database.create();
    await using source = await openStore(from);
    const { id, account_id } = source.owner;
    await source.database.updateTable("users").set({ created_at: 1234 }).where("id", "=", id).execute();
    const gone = Bun.randomUUIDv7();
    const event = {
      account_id,
      created_at: 1,
      actor_id: null,
      actor_name: null,
      request_id: null,
      detail: "{}",
    };
    const about = { ...event, action: "user.change_role", object_id: id } as const;
    const byNobody = { actor_kind: "command_line", actor_user_id: null } as const;
    const detailOf = (user: string | undefined) => JSON.stringify({ name: "a key", user_id: user });
    const events = [
      { ...about, id: "1", actor_kind: "command_line", actor_user_id: null },
      { ...about, id: "2", actor_kind: "session", actor_user_id: id },
      { ...about, id: "3", actor_kind: "session", actor_user_id: gone, object_id: gone },
      { ...event, id: "4", action: "api_key.create", object_id: gone, ...byNobody, detail: detailOf(id) },
    ] as const;
    await source.database.insertInto("audit_events").values(events).execute();
    expect((await run(from, "export", join(folder, "events.jsonl"))).code).toBe(0);
    expect((await run(url, "import", join(folder, "events.jsonl"))).code).toBe(0);
    await using target = await openStore(url);
    const [user] = await target.database.selectFrom("users").select(["id", "created_at"]).execute();
    expect(Number(user?.created_at)).toBe(1234);
    const stored = await target.database
      .selectFrom("audit_events")
      .select(["id", "actor_user_id", "object_id", "detail"])
      .orderBy("id")
      .execute();
    expect(stored.pop()).toMatchObject({ id: "4", detail: detailOf(user?.id) });
    expect(stored).toMatchObject([
      { id: "1", actor_user_id: null, object_id: user?.id ?? "" },
      { id: "2", actor_user_id: user?.id ?? "", object_id: user?.id ?? "" },
      { id: "3", actor_user_id: expect.stringMatching(/^0{8}-/), object_id: gone },
    ]);
    expect((await run(url, "export", join(folder, "events-again.jsonl"))).code).toBe(0);
    expect(await read("events-again.jsonl")).toBe(await read("events.jsonl"));
  });

  test("An import that is killed has stored nothing, and the next one stores everything once", async () => {
    const url = await database.create();
    const pipe = join(folder, `pipe-${database.name}`);
    expect(await Bun.spawn(["mkfifo", pipe]).exited).toBe(0);
    const killed = Bun.spawn([process.execPath, mainFile, "account", "import", pipe], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_DATABASE_URL: url },
      stdout: "ignore",
      stderr: "ignore",
    });
    killAfterTests(killed);
    const lines = exported.split("\n");
    const writing = createWriteStream(pipe);
    await new Promise((written) => writing.write(`${lines.slice(0, -10).join("\n")}\n`, written));
    killed.kill("SIGKILL");
    await killed.exited;
    writing.destroy();
    // PostgreSQL notices shortly afterwards that its client is gone.
    await expectEventually(async () => (await run(url, "import", join(folder, "first.jsonl"))).code, 0);
    expect((await run(url, "export", join(folder, "killed.jsonl"))).code).toBe(0);
    expect((await read("killed.jsonl")).split("\n")).toEqual(lines);
  });

  slowTest("An import waits for its pipe", async () => {
    const url = await database.create();
    const [file, command] = [join(folder, "first.jsonl"), `${process.execPath} ${mainFile}`];
    const piped = `{ head -n 9 ${file}; sleep 6; tail -n +10 ${file}; } | ${command} account import /dev/stdin`;
    const importing = Bun.spawn(["sh", "-c", piped], {
      env: { PATH: process.env.PATH ?? "", PRESAGE_DATABASE_URL: url },
      stdout: "ignore",
      stderr: "pipe",
    });
    expect([await importing.exited, await importing.stderr.text()]).toEqual([
      0,
      expect.stringContaining("are revoked"),
    ]);
  });

  test("A row that is in the file twice, or in another account, is named with its line, and nothing is stored", async () => {
    const url = await database.create();
    const lines = exported.trimEnd().split("\n");
    const tables = new Set(lines.slice(1, -1).map((line): string => JSON.parse(line).table));
    expect(tables.size).toBeGreaterThan(15);
    for (const table of tables) {
      const at = lines.findLastIndex((line) => line.startsWith(`{"table":"${table}"`));
      const { row } = JSON.parse(lines[at] ?? "");
      const twice = [...lines.slice(0, at + 1), lines[at] ?? "", ...lines.slice(at + 1)];
      await Bun.write(join(folder, "twice.jsonl"), `${twice.join("\n")}\n`);
      const ran = await run(url, "import", join(folder, "twice.jsonl"));
      const sentence = new RegExp(`^Line ${at + 2}: there is a row of ${table} with the .* already, `);
      expect([table, ran.code, ran.stderr]).toEqual([table, 1, expect.stringMatching(sentence)]);
      if ("id" in row) expect(ran.stderr).toContain(`with the id ${row.id} already`);
      expect(ran.stderr.trim().split("\n")).toHaveLength(1);
    }
    expect((await run(url, "import", join(folder, "first.jsonl"))).code).toBe(0);
    const strangers = exported.replace(localIssuer, "https://id.example");
    await Bun.write(join(folder, "beside.jsonl"), strangers);
    const beside = await run(url, "import", "--account", "beside", join(folder, "beside.jsonl"));
    expect([beside.code, beside.stderr]).toEqual([
      1,
      expect.stringMatching(/^Line 2: .* in another account/),
    ]);
  });

  test("Nothing is imported into an account that is being deleted, as the deletion would go on", async () => {
    const url = await database.create();
    await using opened = await openStore(url);
    await closeAccount(opened.database, opened.owner.account_id);
    const ran = await run(url, "import", join(folder, "first.jsonl"));
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(/^The account .* is being deleted\./)]);
    await reopenAccount(opened.database, opened.owner.account_id);
    expect((await run(url, "import", join(folder, "first.jsonl"))).code).toBe(0);
  });

  test("Of a file that is cut, damaged or of another schema nothing is stored", async () => {
    const url = await database.create();
    const lines = exported.trimEnd().split("\n");
    const ownedBy: Record<string, RegExp> = {
      run_id: /"table":"run_verdicts"/,
      revision_id: /"table":"dataset_samples"/,
      public_id: /"table":"evaluator_profile_revisions"/,
    };
    const { last } = JSON.parse(lines[0] ?? "").results;
    const damaged: [string, string[]][] = [
      ["ends before its last line", lines.slice(0, -1)],
      ["rows, but should have", [...lines.slice(0, -2), ...lines.slice(-1)]],
      ["Line 3 is not one", [...lines.slice(0, 2), lines[2]?.slice(0, 20) ?? "", ...lines.slice(3)]],
      ["has no column", [...lines.slice(0, 2), '{"table":"projects","row":{"id) --":1}}', ...lines.slice(2)]],
      [
        "Line 1 is not one",
        [
          lines[0]?.replace(/"results":\{"first":\d+,"last":\d+/, '"results":{"first":9,"last":3') ?? "",
          ...lines.slice(1),
        ],
      ],
      ...[
        [/("table":"audit_events".*),"detail":"[^}]*}"/, "$1", "not one of an exported account"],
        [/("table":"audit_events".*),"action":"[^"]*"/, "$1", "action of audit_events is missing"],
        [/("table":"runs".*),"target":"{/, '$1,"target":"', "not one of an exported account"],
        [/"limit_micros":\d+/, '"limit_micros":"abc"', "limit_micros of budgets is missing or has a wrong"],
        [/("table":"projects".*"name":)"kitchen"/, "$17", "name of projects is missing or has a wrong"],
        [
          /("table":"projects".*"name":)"kitchen"/,
          '$1"\\u0000"',
          "name of projects is missing or has a wrong",
        ],
        [/("last_revision":)1,/, "$13000000000,", "last_revision of error_taxonomies is missing or has a"],
        [/("limit_micros":)\d+/, "$11e300", "limit_micros of budgets is missing or has a wrong"],
        [/("taxonomy_id":)"[^"]+"/, '$1""', "error_taxonomy_revisions refers to is not in the file"],
        [/(_labels".*"revision_id":)"[^"]+"/, '$1""', "error_taxonomy_labels refers to is not in the file"],
      ].map(([part, changed, reason]): [string, string[]] => [
        String(reason),
        exported
          .trimEnd()
          .replace(part ?? "", String(changed))
          .split("\n"),
      ]),
      [
        "evaluation_corrections refers to is not in the file",
        lines.map((line) =>
          line
            .replace(/^(.*"results":.*"last":)\d+/, `$1${last + 1}`)
            .replace(/("table":"evaluation_corrections".*"result_id":)\d+/, `$1${last + 1}`),
        ),
      ],
      ["the file has no result", [lines[0]?.replace(/"last":\d+/, '"last":1') ?? "", ...lines.slice(1)]],
      ...["run_id", "revision_id", "public_id"].map((column): [string, string[]] => [
        "belongs to is not in the file",
        lines.map((line) =>
          ownedBy[column]?.test(line)
            ? line.replace(new RegExp(`("${column}":)("[^"]*"|\\d+)`), "$1987654321")
            : line,
        ),
      ]),
      [
        "from another version",
        [lines[0]?.replace(/"schema":"\d+/, '"schema":"020') ?? "", ...lines.slice(1)],
      ],
    ];
    for (const [reason, some] of damaged) {
      expect(some).not.toEqual(lines);
      await Bun.write(join(folder, "damaged.jsonl"), `${some.join("\n")}\n`);
      const ran = await run(url, "import", join(folder, "damaged.jsonl"));
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(reason)]);
      if (reason.includes(" of ")) expect(ran.stderr).toMatch(/^Line \d+\b.*\n$/);
    }
    expect((await run(url, "import", join(folder, "first.jsonl"))).code).toBe(0);
  });
});
