import { afterAll, beforeAll, expect, test } from "bun:test";
import { startPresage, type TestPresage, testKey } from "../../server/test/support/presage/presage.ts";
import { createPresage, type Presage } from "../src/create-presage.ts";
import { caught } from "./support/caught.ts";

let server: TestPresage;
let presage: Presage;
beforeAll(async () => {
  server = await startPresage({});
  presage = createPresage({ baseUrl: server.url, apiKey: testKey });
  const lines = ["cup", "lamp"].map((thing, step) =>
    JSON.stringify({
      ...{ trajectory_id: `t-${thing}`, step },
      interaction: { state: "The cart is empty.", action: `add ${thing}` },
      next_state: `Added the ${thing}.`,
    }),
  );
  await presage.datasets.import("shop-traces", lines.join("\n"));
});
test("a world is calibrated on a run of it, whose card says what that is worth", async () => {
  const lines = Array.from({ length: 60 }, (_, index) => ({
    ...{ trajectory_id: `g-${index}`, step: 0, tags: { split: index % 6 === 0 ? "test" : "calibration" } },
    interaction: { state: "The cart is empty.", action: index % 2 === 0 ? "add cup" : "draw a lot" },
    next_state: index % 2 === 0 ? "Added." : `Number ${index}.`,
  }));
  const dataset = await presage.datasets.import("lots", lines.map((line) => JSON.stringify(line)).join("\n"));
  await presage.worlds.create({
    ...{ name: "lots", examples: { dataset: "lots" }, model: { kind: "retrieval" } },
    confidence: { methods: ["retrieval"] },
  });
  const run = async () => {
    const target = { world: "lots" };
    const evaluators = [{ evaluator: "exact-match" }];
    const made = await presage.runs.create({ dataset_id: dataset.dataset.id, target, evaluators });
    await presage.runs.waitUntilEnded(made.id);
    return made.id;
  };
  const run_id = await run();
  const { revision, pinned } = await presage.worlds.calibrate("lots", { run_id, split: "calibration" });
  expect([revision, pinned.calibration]).toEqual([2, expect.objectContaining({ run_id, samples: 50 })]);
  expect(await presage.runs.calibration(run_id)).toMatchObject({ of: "score", left_out: 0 });
  const later = await presage.runs.calibration(await run());
  expect(later).toMatchObject({ of: "confidence", left_out: 50, fitted_on_it: false, auroc: { count: 10 } });
});

afterAll(() => server.stop());

test("a world of records is made, asked, revised and deleted", async () => {
  const made = await presage.worlds.create({
    name: "shop",
    examples: { dataset: "shop-traces" },
    model: { kind: "retrieval" },
  });
  expect(made).toMatchObject({ name: "shop", revision: 1, pinned: { examples: { count: 2, actions: 2 } } });
  const interaction = { state: "The cart is empty.", action: "add vase" };
  const { response, world, explain } = await presage.predict({ interaction, world: "shop@1", explain: true });
  expect(response.content).toBe("Added the vase.");
  expect(world).toEqual({ name: "shop", revision: 1, answered_by: "retrieval" });
  expect(explain?.examples.map(({ trajectory_id }) => trajectory_id).sort()).toEqual(["t-cup", "t-lamp"]);

  expect((await presage.worlds.revise("shop", { retrieval: { k: 1 } })).revision).toBe(2);
  const preview = await presage.worlds.preview("shop", { interaction });
  expect([preview.answer, preview.messages.length]).toEqual(["Added the vase.", 4]);
  expect((await presage.worlds.get("shop@1")).config.retrieval).toBeUndefined();
  expect((await presage.worlds.listRevisions("shop")).map(({ revision }) => revision)).toEqual([2, 1]);
  expect((await presage.worlds.list({ atMost: 1 })).map(({ name }) => name)).toEqual(["shop"]);
  await presage.worlds.delete("shop");
  expect((await caught(presage.worlds.get("shop"))).category).toBe("not_found");
});
