import { expect, test } from "bun:test";
import type { AuditEventListResponse, World, WorldPreview } from "@presage/contract";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { worldClient } from "../support/resources/worlds.ts";
import { onEachDatabase } from "../support/store/databases.ts";

/** For every third step, the nearest record has a different answer. */
const samplesOf = (trajectories: number) =>
  Array.from({ length: trajectories }, (_, trajectory) =>
    [0, 1, 2, 3, 4, 5].map((step) => ({
      trajectory_id: `t-${trajectory}`,
      step,
      interaction: { state: `Shelf ${step} of ${trajectory % 7}.`, action: `take item ${step}` },
      next_state: step % 3 === 0 ? `Luck ${trajectory}.` : `Taken ${step}.`,
    })),
  ).flat();

async function read<Body>(presage: SpawnedPresage, path: string): Promise<Body> {
  const response = await presage.call("GET", path);
  const text = await response.text();
  expect([path, response.status, text]).toEqual([path, 200, text]);
  return JSON.parse(text) as Body;
}

/** The examples of each step, and how similar they are. */
async function examplesOf(presage: SpawnedPresage, world: string) {
  const preview = async (step: number) => {
    const interaction = { state: `Shelf ${step}.`, action: `take item ${step} again` };
    const response = await presage.call("POST", `/v1/worlds/${world}/preview`, { interaction });
    expect(response.status).toBe(200);
    return ((await response.json()) as WorldPreview).explain.examples;
  };
  return await Promise.all([0, 1, 2, 3].map(preview));
}

/** Sends requests, two at a time, until the server is gone; returns its successful answers. */
async function untilGone(send: () => Promise<Response>): Promise<World[]> {
  const made: World[] = [];
  const worker = async () => {
    for (;;) {
      const response = await send().catch(() => undefined);
      const answer = await response?.json().catch(() => undefined);
      if (response === undefined || answer === undefined) return;
      if (response.ok) made.push(answer as World);
    }
  };
  await Promise.all([worker(), worker()]);
  return made;
}

onEachDatabase((database) => {
  test("kill -9 while an index, a revision or a calibration is made leaves nothing half-made", async () => {
    const environment = { PRESAGE_DATABASE_URL: await database.create(), PRESAGE_LOG_LEVEL: "warn" };
    let presage = await spawnPresage(environment);
    const crash = async () => {
      presage.kill("SIGKILL");
      expect(await presage.exited).toBe(137);
    };
    const restart = async () => {
      await presage[Symbol.asyncDispose]();
      presage = await spawnPresage(environment);
    };
    try {
      const datasets = datasetClient(presage);
      const [small, large] = [await datasets.create(), await datasets.create()];
      await datasets.uploadNew(small, samplesOf(20));
      await datasets.uploadNew(large, samplesOf(4_000));
      const model = { kind: "retrieval" };
      const worlds = worldClient(presage);
      await worlds.create("shop", { examples: { dataset: small }, model });
      await worlds.create("fitted", {
        examples: { dataset: small },
        ...{ model, confidence: { methods: ["retrieval"] } },
      });
      const { id: run_id } = await runClient(presage).create({
        ...{ dataset_id: small, target: { world: "fitted" } },
      });
      await runClient(presage).end(run_id);
      const before = await examplesOf(presage, "shop");

      const indexed = { name: "indexed", examples: { dataset: large }, model };
      const building = presage.call("POST", "/v1/worlds", indexed).catch(() => undefined);
      await Bun.sleep(100);
      await crash();
      const wasMade = (await building)?.ok === true;
      await restart();
      const found = (await presage.call("GET", "/v1/worlds/indexed")).status;
      if (wasMade || found !== 404) expect(found).toBe(200);
      else await worldClient(presage).create("indexed", { examples: { dataset: large }, model });
      const whole = await worldClient(presage).create("again", { examples: { dataset: large }, model });
      expect((await read<World>(presage, "/v1/worlds/indexed")).pinned).toEqual(whole.pinned);
      expect(await examplesOf(presage, "indexed")).toEqual(await examplesOf(presage, "again"));

      let number = 0;
      const revising = untilGone(() => {
        number += 1;
        return presage.call("PATCH", "/v1/worlds/shop", { instructions: `Shop ${number}.` });
      });
      while (number < 30) await Bun.sleep(1);
      await crash();
      const revised = await revising;
      await restart();
      const { data: revisions } = await read<{ data: World[] }>(
        presage,
        "/v1/worlds/shop/revisions?limit=100",
      );
      const last = (await read<World>(presage, "/v1/worlds/shop")).revision;
      expect(revisions.map(({ revision }) => revision)).toEqual(
        Array.from({ length: last }, (_, index) => last - index),
      );
      for (const { revision, config } of revised)
        expect(revisions.find((one) => one.revision === revision)?.config).toEqual(config);
      const { data: events } = await read<AuditEventListResponse>(
        presage,
        "/v1/audit-events?action=world.revise&limit=100",
      );
      expect(events).toHaveLength(last - 1);
      expect(await examplesOf(presage, "shop")).toEqual(before);

      // Each server is killed a little later than the last, until one has made the calibration.
      let calibration: World["pinned"]["calibration"] = null;
      for (let waitMs = 0; calibration === null; waitMs += 40) {
        const calibrating = untilGone(() =>
          presage.call("POST", "/v1/worlds/fitted/calibrations", { run_id }),
        );
        await Bun.sleep(waitMs);
        await crash();
        const calibrated = await calibrating;
        await restart();
        const { pinned, revision } = await read<World>(presage, "/v1/worlds/fitted");
        calibration = pinned.calibration;
        expect(revision).toBe(calibration === null ? 1 : 2);
        if (calibrated.length > 0) expect(calibrated[0]?.pinned.calibration).toEqual(calibration);
      }
      expect(await examplesOf(presage, "fitted")).toEqual(before);
    } finally {
      await presage[Symbol.asyncDispose]();
    }
  }, 600_000);
});
