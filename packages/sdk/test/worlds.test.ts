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
