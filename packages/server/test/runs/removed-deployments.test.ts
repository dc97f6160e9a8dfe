import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const upstream = startUpstream();
const samples = Array.from({ length: 6 }, (_, step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `state ${step}`, action: "go on" },
  next_state: "next",
}));
let directory: string;
let presage: TestPresage;
let datasets: ReturnType<typeof datasetClient>;

/** Replaces the deployments in the file. */
async function writeDeployments(...names: string[]): Promise<void> {
  const deployments = names.map((name) => `  ${name}: { replicas: [${upstream.url}], model: m }\n`);
  await writeFile(
    join(directory, "deployments.yaml"),
    `default: stays\ndeployments:\n${deployments.join("")}`,
  );
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-removed-"));
  await writeDeployments("stays", "leaves");
  presage = await startPresage({
    PRESAGE_DEPLOYMENTS: join(directory, "deployments.yaml"),
    PRESAGE_DATABASE_URL: "sqlite::memory:",
  });
  datasets = datasetClient(presage);
}, 300_000);
afterAll(async () => {
  await presage.stop();
  await upstream.stop();
  await rm(directory, { recursive: true });
});

/** Answers all predictions; the one with this number only when it is released. */
function holdAnswer(number: number) {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  upstream.answer = async () => {
    asked += 1;
    if (asked === number) await held.promise;
    return Response.json(completion("next"));
  };
  return { asked: () => asked, release: () => held.resolve() };
}

/** A run of all samples that requests one prediction after the other. */
async function startRun(): Promise<string> {
  const dataset_id = await datasets.create();
  await datasets.uploadNew(dataset_id, samples);
  const { id } = await runClient(presage).create({
    dataset_id,
    target: { deployment: "leaves" },
    concurrency: 1,
  });
  return id;
}

async function removeDeployment(): Promise<void> {
  await writeDeployments("stays");
  await presage.rereadFiles();
  await eventually(
    async () => await (await presage.call("GET", "/v1/models")).text(),
    (text) => !text.includes("leaves"),
  );
}

test("a run on a removed deployment pauses, keeps what was under way, and continues once it is back", async () => {
  const { asked, release } = holdAnswer(3);
  const { end, read } = runClient(presage);
  const id = await startRun();
  await expectEventually(asked, 3);
  await removeDeployment();
  release();
  const paused = await eventually(
    () => read(id),
    ({ status }) => status === "paused",
  );
  expect(paused).toMatchObject({
    status: "paused",
    status_reason: 'There is no deployment named "leaves" now.',
    progress: { predicted: 3, failed: 0 },
  });

  await writeDeployments("stays", "leaves");
  await presage.rereadFiles();
  expect(await end(id)).toMatchObject({
    status: "finished",
    status_reason: null,
    progress: { samples: 6, predicted: 6, evaluated: 6, failed: 0 },
  });
  expect(asked()).toBe(6);
}, 200_000);

test("a run whose last prediction is under way when its deployment is removed is finished", async () => {
  const { asked, release } = holdAnswer(samples.length);
  const id = await startRun();
  await expectEventually(asked, samples.length);
  await removeDeployment();
  // The run notices the change meanwhile. However long that takes, it ends as finished.
  await Bun.sleep(3_000);
  release();
  expect(await runClient(presage).end(id)).toMatchObject({
    status: "finished",
    progress: { predicted: 6, failed: 0 },
  });
}, 200_000);
