import { expect, test } from "bun:test";
import { join } from "node:path";
import { openEnvPath, openEnvSocket } from "../../support/openenv/openenv-socket.ts";
import { usePresage } from "../../support/presage/use-presage.ts";

// The messages of verifiers' OpenEnv task set as its source builds them, since it does not install beside the newest openenv, and what was
// answered to them: two tasks, a reply that is no action and an empty one, at which it ends an episode. Ids, tokens and times are left out.
const presage = usePresage();
const lines = (await Bun.file(join(import.meta.dir, "verifiers-exchange.fixture.jsonl")).text())
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { send: object; receive: object });

test("what the OpenEnv task set of verifiers sends gets the answers that were recorded", async () => {
  const schema = await (await presage.call("GET", `${openEnvPath("sandbox")}/schema`)).json();
  const { title, properties } = (schema as { action: { title: string; properties: object } }).action;
  // It takes another title for a server of tools, and a bare reply for the one field beside the metadata.
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
