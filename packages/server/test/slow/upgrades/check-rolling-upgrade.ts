// Run by `npm run check:upgrade` with the `main.ts` of an earlier commit: starts it on PostgreSQL, asks it for changes of every kind and
// for work of many requests, starts the present one next to it, stops the earlier one, and compares all responses with what is stored.

import { killChildren } from "../../support/presage/child-processes.ts";
import { mainFile } from "../../support/presage/main-file.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { makeFixtures, openLedger } from "../../support/store/change-ledger.ts";
import { createPostgresDatabase, removeSharedPostgres } from "../../support/store/databases.ts";
import { startEchoingModel, startWork } from "./work-across-versions.ts";

const phaseMs = 8_000;
const pauseMs = 5;
/** The pause between changes of a kind: a user has at most 1,000 keys, and a fast machine made more in the three phases. */
const changePauseMs = 40;
const predictors = 4;
const prediction = {
  interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
};

const [earlierMain] = process.argv.slice(2);
if (earlierMain === undefined) throw new Error("Call `npm run check:upgrade -- [git ref]`.");
try {
  process.exitCode = (await check(earlierMain)) ? 0 : 1;
} finally {
  await killChildren();
  await removeSharedPostgres();
}

async function check(earlierMain: string): Promise<boolean> {
  const databaseUrl = await createPostgresDatabase();
  const model = startEchoingModel();
  const environment = {
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_LOG_LEVEL: "warn",
    PRESAGE_UPSTREAM_URL: model.url,
  };
  const earlier = await spawnPresage(environment, [process.execPath, earlierMain]);
  const balanced = balance([earlier]);
  const ledger = openLedger(balanced, await makeFixtures(earlier));
  const stopChanges = ledger.askUntilStopped(changePauseMs);
  const stopPredictions = predictUntilStopped(balanced.call);
  const work = await startWork(balanced.call, earlier.call);
  if (work.left.length > 0) say(`left out, as the earlier version has none: ${work.left.join(", ")}`);

  await phase("the earlier version alone");
  const startedAtMs = performance.now();
  const present = await spawnPresage(environment, [process.execPath, mainFile]);
  say(`the present version was ready ${Math.round(performance.now() - startedAtMs)} ms after its start`);
  balanced.use([earlier, present]);
  await phase("both versions");
  balanced.use([present]);
  earlier.kill("SIGTERM");
  say(`the earlier version ended with exit code ${await earlier.exited}`);
  await phase("the present version alone");
  await stopChanges();
  const predictions = await stopPredictions();
  await work.stop();
  const made = work.kinds.map((kind) => `${work.made(kind)} of the kind "${kind}"`);
  say(`pieces of work: ${made.join(", ")}; waiting for the runs to end`);

  // Runs store results until they end.
  const contradictions = [...(await work.contradictions()), ...(await ledger.contradictions(databaseUrl))];
  await model.stop();
  const statuses = [...ledger.entries.map(({ status }) => status), ...predictions, ...work.statuses];
  const refused = statuses.filter((status) => status >= 400);
  const slowestMs = Math.max(...ledger.entries.map(({ tookMs }) => tookMs));
  say(
    `${ledger.entries.length} changes, the slowest took ${Math.round(slowestMs)} ms; ${predictions.length} predictions`,
  );
  say(`${refused.length} responses from 400 up${refused.length > 0 ? `: ${[...new Set(refused)]}` : ""}`);
  say(`${contradictions.length} responses that contradict what is stored`);
  for (const line of contradictions.slice(0, 20)) say(`  ${line}`);
  const logs = [await earlier.stdout(), await present.stdout()].join("").trim();
  if (logs !== "") say(`warnings in the logs:\n${logs.slice(0, 4_000)}`);
  return refused.length === 0 && contradictions.length === 0;
}

/** Requests go to these servers in turn, as a load balancer sends them. */
function balance(servers: SpawnedPresage[]) {
  let used = servers;
  let last = 0;
  return {
    use(others: SpawnedPresage[]) {
      used = others;
    },
    call: ((...request) => {
      last += 1;
      const server = used[last % used.length];
      if (server === undefined) throw new Error("There is no server");
      return server.call(...request);
    }) satisfies SpawnedPresage["call"] as SpawnedPresage["call"],
  };
}

function predictUntilStopped(call: SpawnedPresage["call"]): () => Promise<number[]> {
  const statuses: number[] = [];
  let isStopped = false;
  const loops = Array.from({ length: predictors }, async () => {
    while (!isStopped) {
      const response = await call("POST", "/v1/predict", prediction);
      await response.arrayBuffer();
      statuses.push(response.status);
      await Bun.sleep(pauseMs);
    }
  });
  return async () => {
    isStopped = true;
    await Promise.all(loops);
    return statuses;
  };
}

async function phase(name: string): Promise<void> {
  say(`${name}, for ${phaseMs / 1000} s`);
  await Bun.sleep(phaseMs);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
