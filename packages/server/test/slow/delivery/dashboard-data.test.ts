import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { type OpenEnvSocket, openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { killAfterTests } from "../../support/presage/child-processes.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { redisProgram, startRedis, type TestRedis } from "../../support/redis/start-redis.ts";
import { createPostgresDatabase } from "../../support/store/databases.ts";
import { completion, startUpstream } from "../../support/upstream/upstream.ts";

const prometheus = Bun.which("prometheus");
if (prometheus === null) {
  process.stderr.write(
    "The dashboard's queries are not asked of Prometheus: it was not found (Debian: apt-get install prometheus).\n",
  );
}
const isPossible = prometheus !== null && redisProgram !== undefined && process.platform === "linux";

const Dashboard = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
});
const Answer = z.object({
  status: z.literal("success"),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

const monitoring = resolve(import.meta.dir, "../../../../../deploy/monitoring");
const upstream = startUpstream(({ body }) =>
  body.messages.at(-1)?.content.includes("fail")
    ? new Response("no", { status: 500 })
    : Response.json(completion("You are in the kitchen.")),
);
let work: string;
let presage: SpawnedPresage;
let redis: TestRedis;
let socket: OpenEnvSocket;
let prometheusUrl: string;

beforeAll(async () => {
  if (!isPossible) return;
  work = await mkdtemp(join(tmpdir(), "presage-dashboard-"));
  redis = await startRedis();
  presage = await spawnPresage({
    PRESAGE_DATABASE_URL: await createPostgresDatabase(),
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_JUDGE_URL: `http://127.0.0.1:${await freePort()}/v1`,
    PRESAGE_JUDGE_MODEL: "absent",
    PRESAGE_REDIS_URL: redis.url,
    PRESAGE_RATE_LIMIT_RPM: "1000000",
    PRESAGE_WORKERS: "2",
    PRESAGE_CACHE: "deterministic",
    PRESAGE_CAPTURE: "all",
  });
  socket = await openEnvSocket(presage.url, "sandbox");
  prometheusUrl = await startPrometheus();
}, 300_000);
afterAll(async () => {
  socket?.close();
  await presage?.[Symbol.asyncDispose]();
  await redis?.stop();
  await upstream.stop();
  if (work !== undefined) await rm(work, { recursive: true, force: true });
});

/** A Prometheus with the alerts that reads the server every second. It ends with the tests. */
async function startPrometheus(): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [join(monitoring, "alerts.yaml")],
    scrape_configs: [{ job_name: "presage", static_configs: [{ targets: [new URL(presage.url).host] }] }],
  };
  await Bun.write(join(work, "prometheus.yaml"), JSON.stringify(config));
  const child = Bun.spawn(
    [
      prometheus ?? "",
      `--config.file=${join(work, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(work, "data")}`,
      `--web.listen-address=${new URL(url).host}`,
      "--log.level=error",
    ],
    { stdout: "ignore", stderr: "inherit" },
  );
  killAfterTests(child);
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  expect(await eventually(isReady, Boolean, 60_000)).toBe(true);
  return url;
}

/** Makes requests so that every panel has something to show. */
async function makeTraffic(round: number): Promise<void> {
  const call = async (path: string, body: unknown, method = "POST") => {
    const response = await presage.call(method, path, body);
    return { status: response.status, body: await response.text() };
  };
  const predict = (action: string, more = {}) =>
    call("/v1/predict", {
      interaction: { state: "A kitchen.", action },
      params: { temperature: 0 },
      ...more,
    });
  await predict("look");
  await predict(`look ${round}`);
  await predict("fail");
  const evaluation = {
    evaluated_model_output: "a",
    evaluated_model_gold_answer: "a",
    app: "of the dashboard",
  };
  await call("/v1/evaluate", { ...evaluation, evaluators: [{ evaluator: "exact-match" }] });
  // A request that uses an old name.
  await call("/v1/evaluate", { output: "a", label: "a", evaluators: [{ evaluator: "exact-match" }] });
  // A judge whose model does not answer.
  await call("/v1/evaluate", {
    ...evaluation,
    evaluators: [{ evaluator: "judge", profile_name: "system:matches-gold" }],
  });
  const deletable = "/v1/evaluation-results?app=of%20the%20dashboard";
  const { count } = JSON.parse((await call(`${deletable}&dry_run=true`, undefined, "DELETE")).body);
  await call(`${deletable}&expected_count=${count}`, undefined, "DELETE");
  await socket.reset();
  await socket.step("look");
}

async function ask(expr: string): Promise<number[]> {
  const query = expr
    .replaceAll("$__rate_interval", "1m")
    .replaceAll("$job", "presage")
    .replaceAll("$instance", ".*");
  const response = await fetch(`${prometheusUrl}/api/v1/query?${new URLSearchParams({ query })}`);
  return Answer.parse(await response.json()).data.result.map(({ value: [, value] }) => Number(value));
}

test.skipIf(!isPossible)(
  "every query of the dashboard has data of a server with traffic, in a real Prometheus",
  async () => {
    const { panels } = Dashboard.parse(await Bun.file(join(monitoring, "dashboard.json")).json());
    const queries = panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({ panel: `${title}: ${legendFormat}`, expr })),
    );
    let round = 0;
    const without = await eventually(
      async () => {
        round += 1;
        await makeTraffic(round);
        await Bun.sleep(500);
        const empty: string[] = [];
        for (const { panel, expr } of queries)
          if (!(await ask(expr)).some(Number.isFinite)) empty.push(panel);
        return empty;
      },
      ({ length }) => length === 0,
      200_000,
    );
    expect(without).toEqual([]);
    const names = await fetch(
      `${prometheusUrl}/api/v1/label/job/values?match[]=presage_predictions_in_flight`,
    );
    expect(await names.json()).toMatchObject({ data: ["presage"] });
  },
  300_000,
);
