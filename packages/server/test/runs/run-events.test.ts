import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const upstream = useUpstream();
const presage = usePresage({
  get PRESAGE_UPSTREAM_URL() {
    return upstream.url;
  },
});
const datasets = datasetClient(presage);
const { create, end, change } = runClient(presage);
const samples = [0, 1, 2, 3].map((step) => ({
  trajectory_id: "t",
  step,
  interaction: { state: `s${step}`, action: "a" },
  next_state: "n",
}));

interface Event {
  id: string;
  run: { status: string; progress: { predicted: number } };
}

/** The events of a run as they arrive, until the stream ends. */
async function follow(id: string, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const response = await fetch(`${presage.url}/v1/runs/${id}/events`, {
    headers: { "x-api-key": testKey, ...headers },
    ...(signal ? { signal } : {}),
  });
  const seen: { events: Event[]; hasEnded: boolean; text: string } = {
    events: [],
    hasEnded: false,
    text: "",
  };
  async function read() {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      seen.text += decoder.decode(chunk);
      seen.events = [...seen.text.matchAll(/event: run\nid: (.*)\ndata: (.*)\n\n/g)].map(
        ([, id = "", data = ""]) => ({
          id,
          run: JSON.parse(data),
        }),
      );
    }
  }
  void read()
    .catch(() => {})
    .finally(() => {
      seen.hasEnded = true;
    });
  return { status: response.status, headers: response.headers, seen };
}

async function startRun() {
  const gate = Promise.withResolvers<void>();
  upstream.answer = async () => {
    await gate.promise;
    return Response.json(completion("n"));
  };
  const dataset_id = await datasets.create();
  await datasets.uploadNew(dataset_id, samples);
  const { id } = await create({ dataset_id, target: { deployment: "default" }, concurrency: 1 });
  return { id, open: gate.resolve };
}

test("a stream has the run at once and with each change, and ends with it", async () => {
  const { id, open } = await startRun();
  const { seen, headers } = await follow(id);
  expect(headers.get("content-type")).toBe("text/event-stream");
  await eventually(
    () => seen.events.length,
    (count) => count > 0,
  );
  expect(seen.events[0]?.run.progress.predicted).toBe(0);
  open();
  await eventually(
    () => seen.hasEnded,
    (hasEnded) => hasEnded,
  );
  const last = seen.events.at(-1);
  expect(last?.run).toMatchObject({ status: "finished", progress: { predicted: 4, evaluated: 4 } });
  // A client that knows the last state is not sent it again.
  const again = await follow(id, { "last-event-id": last?.id ?? "" });
  await eventually(
    () => again.seen.hasEnded,
    (hasEnded) => hasEnded,
  );
  expect(again.seen.events).toEqual([]);
});

test("a user has at most ten streams, and a closed one makes room", async () => {
  const { id, open } = await startRun();
  const leaving = new AbortController();
  const all = await Promise.all(Array.from({ length: 10 }, () => follow(id, {}, leaving.signal)));
  expect(all.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect((await follow(id)).status).toBe(429);
  leaving.abort();
  await eventually(
    async () => (await follow(id)).status,
    (status) => status === 200,
  );
  await change(id, "cancel");
  open();
  await end(id);
});

test("a stream ends within five seconds of its key's revocation, and nobody follows another's run", async () => {
  const { id, open } = await startRun();
  const created = await presage.call("POST", "/v1/api-keys", { name: "follower" });
  const { key, id: keyId } = (await created.json()) as { key: string; id: string };
  const { seen } = await follow(id, { "x-api-key": key });
  await eventually(
    () => seen.events.length,
    (count) => count > 0,
  );
  expect(seen.hasEnded).toBe(false);
  await presage.call("DELETE", `/v1/api-keys/${keyId}`);
  await eventually(
    () => seen.hasEnded,
    (hasEnded) => hasEnded,
    10_000,
  );
  expect(seen.hasEnded).toBe(true);
  expect((await follow("none")).status).toBe(404);
  await change(id, "cancel");
  open();
});
