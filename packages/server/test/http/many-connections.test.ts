import { expect, test } from "bun:test";
import { testKey } from "../support/presage/presage.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";

/** Trainers begin all episodes of a batch at once. */
const connections = 3_000;

test("3,000 connections opened while the server is busy are all held, and their requests answered", async () => {
  await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: "sqlite::memory:" });
  // Nothing is accepted meanwhile, and then everything in few turns of the loop.
  presage.kill("SIGSTOP");
  const clients = await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = await openRawClient(presage.url);
      return { client, answer: client.send("GET", "/v1/environments/sandbox", { "x-api-key": testKey }) };
    }),
  );
  presage.kill("SIGCONT");
  const answers = await Promise.all(clients.map(({ answer }) => answer));
  for (const { client } of clients) client.socket.destroy();
  const names = answers.map(({ status, body }) => [status, JSON.parse(body).name]);
  expect(names).toEqual(Array.from({ length: connections }, () => [200, "sandbox"]));
}, 120_000);
