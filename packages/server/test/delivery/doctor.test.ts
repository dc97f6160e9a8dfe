import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { migrations } from "../../src/platform/storage/migrations/index.ts";
import { saveSetting } from "../../src/platform/storage/settings-store.ts";
import { freePort } from "../support/free-port.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { redisProgram, startRedis } from "../support/redis/start-redis.ts";
import { startOpenidProvider, type TestOpenidProvider } from "../support/sign-in/openid-provider.ts";
import { createPostgresDatabase, onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { selfSignedCertificate } from "../support/upstream/self-signed-certificate.ts";
import { startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
/** Refuses every key and repeats it. */
const refusing = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ headers }) => new Response(`${headers.get("authorization")}`, { status: 401 }),
});
const refusingUrl = `http://127.0.0.1:${refusing.port}/v1`;
const secrets = {
  PRESAGE_UPSTREAM_API_KEY: "hidden-upstream-key",
  PRESAGE_JUDGE_API_KEY: "hidden-judge-key",
};
let provider: TestOpenidProvider;
let folder: string;
let nothingAt: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "presage-doctor-"));
  provider = await startOpenidProvider(["http://127.0.0.1:8080"]);
  nothingAt = await freePort();
});
afterAll(async () => {
  await upstream.stop();
  await provider.stop();
  await refusing.stop(true);
  await rm(folder, { recursive: true, force: true });
});

interface Line {
  check: string;
  state: string;
  text: string;
}

/** The exit code, and the state and texts of each check. No secret is printed. */
async function diagnose(environment: Record<string, string>, timeout = "120") {
  const all = { PRESAGE_DATABASE_URL: `sqlite:${join(folder, "absent", "presage.db")}`, ...environment };
  const { code, stdout, stderr } = await runPresage(["doctor", "--json", "--timeout", timeout], all);
  expect([stderr, stdout.includes("hidden")]).toEqual(["", false]);
  const lines = stdout
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  const of = (check: string) => lines.filter((line) => line.check === check);
  return { code, of, bad: lines.filter(({ state }) => state === "bad").map(({ check }) => check) };
}

onAnyDatabase(({ name, create }) => {
  test("presage doctor finds nothing to do about what works", async () => {
    const { code, of, bad } = await diagnose({
      PRESAGE_DATABASE_URL: await create(),
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_OIDC_ISSUER: provider.issuer,
      PRESAGE_OIDC_CLIENT_ID: "presage",
      PRESAGE_OIDC_CLIENT_SECRET: "hidden-client-secret",
      PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
    });
    expect([code, bad]).toEqual([0, []]);
    const [{ text = "" } = {}] = of("database");
    expect(text).toStartWith(`${name} `);
    expect(text).toEndWith("up to date");
    expect(of("clock")[0]?.state).toBe(name === "SQLite" ? "off" : "good");
    expect(of("upstream")[0]?.text).toEndWith(" serves test-model");
    expect(of("provider")[0]?.state).toBe("good");
    expect(of("redis")[0]?.state).toBe("off");
  });
});

onAnyDatabase(({ create }) => {
  test("presage doctor says whether a newer schema lets this version run", async () => {
    const url = await create();
    await using store = await openStore(url);
    const schema = "999-later";
    await sql`insert into kysely_migration (name, timestamp) values (${schema}, ${"2031"})`.execute(
      store.database,
    );
    const say = (oldest: string) =>
      saveSetting(store.database, "oldest_version", JSON.stringify({ schema, oldest }));
    await say(Object.keys(migrations).at(-1) ?? "");
    const allowed = await diagnose({ PRESAGE_DATABASE_URL: url });
    expect([allowed.code, allowed.bad]).toEqual([0, []]);
    expect(allowed.of("database")[0]?.text).toContain("newer than this Presage (999-later) and lets it run");
    await say(schema);
    const refused = await diagnose({ PRESAGE_DATABASE_URL: url });
    expect([refused.code, refused.bad]).toEqual([1, ["database"]]);
    expect(refused.of("database")[0]?.text).toEndWith("Run the version that made it, or a later one");
  });
});

test("As lines for people, each has its state, its subject and what was found", async () => {
  const { code, stdout } = await runPresage(["doctor"], { PRESAGE_DATABASE_URL: "sqlite::memory:" });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^good {2}versions {7}Presage \d/);
  for (const line of stdout.trim().split("\n")) expect(line).toMatch(/^(good|off|bad) +[a-z]+ +\S/);
});

test("Of each replica it says what is wrong with it, and of the judge", async () => {
  const { code, of } = await diagnose({
    ...secrets,
    PRESAGE_UPSTREAM_URL: `${upstream.url},http://127.0.0.1:${nothingAt}/v1,${refusingUrl}`,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_JUDGE_URL: upstream.url,
    PRESAGE_JUDGE_MODEL: "absent-model",
  });
  expect(code).toBe(1);
  expect(of("upstream").map(({ state }) => state)).toEqual(["good", "bad", "bad"]);
  expect(of("upstream")[1]?.text).toEndWith("it cannot be reached. Start it, or correct the address");
  expect(of("upstream")[2]?.text).toEndWith("it refuses the API key. Correct it (status 401)");
  expect(of("judge")[0]?.text).toEndWith("does not list absent-model. Its models are test-model");
});

test("It waits for an answer as long as it is told to", async () => {
  await using silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise(() => {}) });
  const { of } = await diagnose({ PRESAGE_UPSTREAM_URL: `http://127.0.0.1:${silent.port}/v1` }, "0.5");
  expect(of("upstream")[0]?.text).toEndWith("no answer within 0.5 s. Is it still loading its model?");
});

test("Of an upstream that cannot be reached it says why", async () => {
  await using https = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: selfSignedCertificate(),
    fetch: () => Response.json({}),
  });
  const urls = [
    `https://localhost:${https.port}/v1`,
    `${upstream.url.replace("http:", "https:")}`,
    "http://model.invalid/v1",
  ];
  const { of } = await diagnose({ ...secrets, PRESAGE_UPSTREAM_URL: urls.join(",") });
  const [certificate, tls, name] = of("upstream").map(({ text }) => text);
  expect(certificate).toEndWith(
    "its certificate is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT). Set NODE_EXTRA_CA_CERTS to your own CA, or correct the certificate",
  );
  expect(tls).toEndWith("it does not speak TLS at this address. Correct it, or begin it with http:");
  expect(name).toEndWith("its name is not known here. Correct the address");
});

test.each([
  ["a variable that is not valid", { PRESAGE_PORT: "hidden" }, "configuration", /PRESAGE_PORT/],
  ["a variable that is unknown", { PRESAGE_PROT: "1" }, "configuration", /^PRESAGE_PROT is unknown/],
  ["a missing file of prices", { PRESAGE_PRICES: "/nowhere/prices.yaml" }, "configuration", /PRESAGE_PRICES/],
  ["a missing file of deployments", { PRESAGE_DEPLOYMENTS: "/nowhere/d.yaml" }, "upstream", /PRESAGE_DEPL/],
])("It finds %s", async (_, environment, check, text) => {
  // The value of PRESAGE_PORT is no secret.
  const { code, stdout } = await runPresage(["doctor", "--json"], {
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    ...(environment as Record<string, string>),
  });
  const found = stdout
    .trim()
    .split("\n")
    .map((line): Line => JSON.parse(line))
    .filter(({ state }) => state === "bad");
  expect([code, found.map((line) => line.check)]).toEqual([1, [check]]);
  expect(found[0]?.text).toMatch(text);
});

test("It finds a provider and a Redis that cannot be reached", async () => {
  const { code, bad } = await diagnose({
    PRESAGE_OIDC_ISSUER: `http://127.0.0.1:${nothingAt}`,
    PRESAGE_OIDC_CLIENT_ID: "presage",
    PRESAGE_OIDC_CLIENT_SECRET: "hidden-client-secret",
    PRESAGE_OIDC_ALLOWED_DOMAINS: "*",
    PRESAGE_REDIS_URL: `redis://:hidden-password@127.0.0.1:${nothingAt}`,
  });
  expect([code, bad]).toEqual([1, ["provider", "redis"]]);
});

test.if(redisProgram !== undefined)("It says the version of Redis, or that it refuses", async () => {
  const redis = await startRedis();
  const good = await diagnose({ PRESAGE_REDIS_URL: redis.url });
  expect([good.code, good.of("redis")[0]?.text]).toEqual([0, expect.stringMatching(/version \d/)]);
  const wrong = `redis://:hidden-password@127.0.0.1:${redis.port}`;
  const refused = await diagnose({ PRESAGE_REDIS_URL: wrong });
  expect([refused.code, refused.bad]).toEqual([1, ["redis"]]);
  await redis.stop();
});

describe("Of the database it finds", () => {
  test("that there is none yet, and makes none", async () => {
    const { code, of } = await diagnose({});
    expect(code).toBe(0);
    expect(of("database")[0]?.text).toEndWith("the server's first start creates the schema");
    expect(await Bun.file(join(folder, "absent", "presage.db")).exists()).toBe(false);
    const empty = await diagnose({ PRESAGE_DATABASE_URL: await createPostgresDatabase() });
    expect([empty.code, empty.of("database")[0]?.state]).toEqual([0, "good"]);
  });

  test("a file that is none, and a newer schema", async () => {
    const broken = join(folder, "broken.db");
    await Bun.write(broken, "not a database".repeat(1_000));
    expect((await diagnose({ PRESAGE_DATABASE_URL: `sqlite:${broken}` })).bad).toEqual(["database"]);
    const newer = join(folder, "newer.db");
    expect((await runPresage(["migrate"], { PRESAGE_DATABASE_URL: `sqlite:${newer}` })).code).toBe(0);
    const file = new Database(newer);
    file.run("insert into kysely_migration values ('999-later', '2027-01-01')");
    file.close();
    const { code, of } = await diagnose({ PRESAGE_DATABASE_URL: `sqlite:${newer}` });
    expect([code, of("database")[0]?.text]).toEqual([
      1,
      expect.stringContaining("newer than this Presage (999-later)"),
    ]);
  });

  test("that a PostgreSQL cannot be reached, or is for reading only", async () => {
    const gone = { PRESAGE_DATABASE_URL: `postgres://ada:hidden-password@127.0.0.1:${nothingAt}/presage` };
    const { code, of } = await diagnose(gone);
    expect([code, of("database")[0]?.state, of("clock")[0]?.state]).toEqual([1, "bad", "off"]);
    expect(of("database")[0]?.text).toMatch(/ECONNREFUSED.*[^.]\. Check PRESAGE_DATABASE_URL/);
    const url = await createPostgresDatabase();
    expect((await runPresage(["migrate"], { PRESAGE_DATABASE_URL: url })).code).toBe(0);
    const readOnly = `${url}?options=-c%20default_transaction_read_only%3Don`;
    const { bad } = await diagnose({ PRESAGE_DATABASE_URL: readOnly });
    expect(bad).toEqual(["database"]);
  });
});
