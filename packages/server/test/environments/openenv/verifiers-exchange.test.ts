import { expect, test } from "bun:test";
import { join } from "node:path";
import { openEnvPath, openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { usePresage } from "../../support/presage/use-presage.ts";

// The messages of verifiers' OpenEnv task set as its source builds them, since it cannot be installed with the newest openenv, and the
// answers: two tasks, a reply that is not an action and an empty one, at which it ends an episode. Ids, tokens and times are left out.
const presage = usePresage();
const lines = (await Bun.file(join(import.meta.dir, "verifiers-exchange.fixture.jsonl")).text())
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { send: object; receive: object });

test("what the OpenEnv task set of verifiers sends gets the answers that were recorded", async () => {
  const schema = await (await presage.call("GET", `${openEnvPath("sandbox")}/schema`)).json();
  const { title, properties } = (schema as { action: { title: string; properties: object } }).action;
  // The task set treats any other title as a server of tools, and puts a bare reply into the one field besides the metadata.
  expect([title, Object.keys(properties)]).toEqual(["MessageAction", ["message", "metadata"]]);
  const socket = await openEnvSocket(presage.url, "sandbox");
  let total = 0;
  for (const { send, receive } of lines) {
    const reply = await socket.ask(send);
    expect(reply).toMatchObject(receive);
    total += reply.data.reward ?? 0;
  }
  expect(total).toBe(1);
  socket.send({ type: "close" });
  expect((await socket.closed).code).toBe(1000);
});

// Newer versions list a split's tasks through OpenEnv's Task API, under the environment's name as the server reports it.
test("its option split finds as many tasks as the split has, which are then reset by their place", async () => {
  const path = openEnvPath("sandbox");
  const names = await (await presage.call("GET", `${path}/list_environments`)).json();
  expect(names).toEqual(["sandbox"]);
  const counted = await presage.call("POST", `${path}/sandbox/num_tasks`, { split: "test" });
  expect(await counted.json()).toEqual({ num_tasks: 4 });
  const socket = await openEnvSocket(presage.url, "sandbox");
  for (const index of [0, 1, 2, 3]) {
    const reply = await socket.reset({ seed: index, split: "test", index });
    expect(reply.data.metadata).toMatchObject({ split: "test", index });
  }
  socket.close();
});

test("OpenEnv's Task API is of the one environment that the path says", async () => {
  const ask = (method: string, path: string, body?: object) =>
    presage.call(method, `${openEnvPath("sandbox")}/${path}`, body);
  expect(await (await ask("GET", "SANDBOX/splits")).json()).toEqual([
    { name: "train", type: "train" },
    { name: "test", type: "test" },
  ]);
  const range = await ask("POST", "sandbox/task_range", { split: "test", start: -1 });
  const task = await ask("POST", "sandbox/task", { split: "test", index: 3 });
  expect(((await range.json()) as { tasks: object[] }).tasks).toEqual([
    ((await task.json()) as { task: object }).task,
  ]);
  expect((await ask("POST", "sandbox/task", { split: "test", index: 4 })).status).toBe(400);
  expect((await ask("POST", "sandbox/num_tasks", { split: "validation" })).status).toBe(400);
  expect((await ask("POST", "another/num_tasks", { split: "test" })).status).toBe(404);
});
