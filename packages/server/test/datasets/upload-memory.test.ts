import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";

const presage = usePresage({ PRESAGE_MEMORY_BUDGET_BYTES: "24000000" });
const { create, upload, uploadNew } = datasetClient(presage);
const line = (step: number) => ({
  trajectory_id: "t",
  step,
  interaction: { state: "s", action: "a" },
  next_state: "n",
});
const heldBytes = () => readMetric(presage, "presage_memory_held_bytes");

/** A body whose end is sent only when the test says so. */
function openBody() {
  const end = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(toLines([line(0)])));
      await end.promise;
      controller.enqueue(new TextEncoder().encode(toLines([line(1)])));
      controller.close();
    },
  });
  return { body, end: end.resolve };
}

test("uploads in progress are in the memory budget: one that has no room is refused, until others end", async () => {
  const id = await create();
  const [first, second] = [openBody(), openBody()];
  const uploads = [upload(id, first.body), upload(await create(), second.body)];
  await eventually(heldBytes, (held) => held >= 16_000_000);
  const refused = await upload(await create(), toLines([line(0)]));
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  first.end();
  second.end();
  expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([201, 201]);
  await eventually(heldBytes, (held) => held === 0);
  expect(await uploadNew(await create(), [line(0)])).toMatchObject({ revision: 1, samples: 1 });
});

test("of an export, what turns have alike is held once; a line that would have it in every turn is refused", async () => {
  const messages = Array.from({ length: 100 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `${at} ${"word ".repeat(2_000)}`,
  }));
  const id = await create();
  await uploadNew(id, [{ messages }]);
  const exported = async (format: string) => {
    const response = await presage.call("GET", `/v1/datasets/${id}/export?format=${format}`);
    return [response.status, await response.text()] as const;
  };
  const [status, text] = await exported("sft");
  expect([status, JSON.parse(text).messages]).toEqual([200, messages]);
  expect(await exported("atif")).toEqual([413, expect.stringContaining("MB of memory")]);
  await eventually(heldBytes, (held) => held === 0);
});
