import { expect, test } from "bun:test";
import { episodeClient } from "../../support/environments/episode-client.ts";
import { testKey } from "../../support/presage/presage.ts";
import { openRawClient, type RawResponse } from "../../support/presage/raw-client.ts";
import { type SpawnedPresage, spawnPresage } from "../../support/presage/spawn-presage.ts";
import { onAnyDatabase } from "../../support/store/databases.ts";

/** Sends a request on each of many new connections while the server does nothing; it then has them all in a few turns of the loop. */
async function askAtOnce(
  presage: SpawnedPresage,
  connections: number,
  [method, path, body = ""]: [method: string, path: string, body?: string],
): Promise<RawResponse[]> {
  presage.kill("SIGSTOP");
  const asked = await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = await openRawClient(presage.url);
      return { client, answer: client.send(method, path, { "x-api-key": testKey }, body) };
    }),
  );
  presage.kill("SIGCONT");
  const answers = await Promise.all(asked.map(({ answer }) => answer));
  for (const { client } of asked) client.socket.destroy();
  return answers;
}

test("3,000 connections opened while the server is busy are all held, and their requests answered", async () => {
  await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: "sqlite::memory:" });
  const answers = await askAtOnce(presage, 3_000, ["GET", "/v1/environments/sandbox"]);
  const names = answers.map(({ status, body }) => `${status} ${JSON.parse(body).name}`);
  expect(new Set(names)).toEqual(new Set(["200 sandbox"]));
}, 300_000);

onAnyDatabase(({ create }) => {
  // Trainers start all episodes of a batch at the same time, more than may wait to read or to change something.
  test("of 1,500 episodes that one account starts at once none is refused", async () => {
    await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: await create() });
    const environment = await episodeClient(presage).environment();
    const start = JSON.stringify({ environment });
    const answers = await askAtOnce(presage, 1_500, ["POST", "/v1/episodes", start]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  }, 300_000);
});
