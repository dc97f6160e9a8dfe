import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { forgetInstance, readInstances } from "../../src/platform/storage/settings-store.ts";
import { eventually, expectEventually } from "../support/eventually.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { keyOfAnotherAccount } from "../support/resources/other-account.ts";
import { onSqlite } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const marker = "Rosalind's pale umbrella";
/** A row with the first text fits into a page; one with the second has its own pages. */
const texts = [marker, `${marker} `.repeat(500)];

onSqlite((database) => {
  const presage = usePresage({ database, PRESAGE_CAPTURE: "all" });
  const datasets = datasetClient(presage);
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await presage.call(method, path, body);
    const text = await response.text();
    expect([path, text, response.ok]).toEqual([path, text, true]);
    return text === "" ? undefined : JSON.parse(text);
  };

  /** How often the marker occurs in each file of the database's folder. */
  async function findMarkers(): Promise<Record<string, number>> {
    const folder = dirname(presage.databaseUrl.slice("sqlite:".length));
    const found: Record<string, number> = {};
    for (const name of await readdir(folder)) {
      const count = (await readFile(join(folder, name), "latin1")).split(marker).length - 1;
      if (count > 0) found[name] = count;
    }
    return found;
  }

  test("No file of the database has a deleted text after a minute", async () => {
    await call("POST", "/v1/environments", { name: "world" });
    const { id } = await call("POST", "/v1/datasets", { name: "erased" });
    const lines = [];
    for (let index = 0; index < 40; index += 1) {
      const text = `${texts[index % 2]} ${index}`;
      const interaction = { state: text, action: text };
      await call("POST", "/v1/predict", {
        context: { environment_state: text, task_context: null },
        interaction,
      });
      await call("POST", "/v1/evaluate", {
        evaluators: [{ evaluator: "exact-match" }],
        evaluated_model_output: text,
        evaluated_model_gold_answer: text,
        app: "erased",
      });
      await call("POST", "/v1/environments/world/tasks", { initial_state: text });
      const { episode_id } = await call("POST", "/v1/episodes", { environment: "world", index });
      await call("POST", `/v1/episodes/${episode_id}/step`, { action: text });
      lines.push({ trajectory_id: `${index}`, step: 0, interaction, next_state: text });
    }
    await datasets.uploadNew(id, lines);
    const live = "/v1/predictions?source=live";
    await eventually(
      async () => (await call("GET", `${live}&limit=100`)).data.length,
      (length) => length === 40,
    );
    expect(await findMarkers()).not.toEqual({});

    await call("DELETE", `${live}&before=2100-01-01`);
    await call("DELETE", "/v1/evaluation-results?app=erased&expected_count=40");
    await call("DELETE", `/v1/datasets/${id}`);
    await call("DELETE", "/v1/environments/world?with_episodes=true");
    await expectEventually(async () => JSON.stringify(await findMarkers()), "{}");
  });

  test("No file of the database has a text of a user whom a command erased", async () => {
    const headers = { "x-api-key": await keyOfAnotherAccount(presage.databaseUrl) };
    const evaluation = {
      evaluators: [{ evaluator: "exact-match" }],
      evaluated_model_output: texts[1],
      evaluated_model_gold_answer: marker,
    };
    expect((await presage.call("POST", "/v1/evaluate", evaluation, headers)).status).toBe(200);
    expect(await findMarkers()).not.toEqual({});
    await using store = await openStore(presage.databaseUrl);
    const { id } = await store.database
      .selectFrom("users")
      .select("id")
      .where("name", "=", "Stranger")
      .executeTakeFirstOrThrow();
    // While a server runs, the command would wait for the requests it had begun.
    for (const server of await readInstances(store.database)) await forgetInstance(store.database, server.id);
    const erased = await runPresage(["users", "erase", "--yes", id], {
      PRESAGE_DATABASE_URL: presage.databaseUrl,
    });
    expect([erased.stderr, erased.code]).toEqual([expect.any(String), 0]);
    await expectEventually(async () => JSON.stringify(await findMarkers()), "{}");
  });
});
