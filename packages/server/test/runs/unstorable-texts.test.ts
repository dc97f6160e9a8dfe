import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** PostgreSQL stores no NUL, and no database half of a surrogate pair. */
const text = "a\0b\ud800c";

onEachDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({ database, PRESAGE_UPSTREAM_URL: upstream.url });
  const datasets = datasetClient(presage);
  const { create, end, samples } = runClient(presage);

  const recorded = {
    "an interaction": { context: { task_context: text }, interaction: { state: text, action: `\0${text}` } },
    "a conversation": {
      messages: [
        { role: "system", content: text },
        { role: "user", content: `\0${text}` },
      ],
    },
  };
  for (const [form, sample] of Object.entries(recorded)) {
    test(`${form} with texts that no database stores is predicted and judged`, async () => {
      upstream.answer = () => Response.json(completion(text));
      const dataset_id = await datasets.create();
      await datasets.uploadNew(dataset_id, [{ trajectory_id: "t", step: 0, ...sample, next_state: text }]);
      const evaluators = [{ evaluator: "exact-match" }, { evaluator: "state-change" }];
      const { id } = await create({ dataset_id, target: { deployment: "default" }, evaluators });
      expect(await end(id, 20_000)).toMatchObject({
        status: "finished",
        progress: { evaluated: 1, failed: 0 },
      });
      const [found] = await samples(id);
      expect(found?.verdicts.map(({ status, pass }) => [status, pass])).toEqual([
        ["success", true],
        ["success", true],
      ]);
      expect((await presage.call("GET", `/v1/runs/${id}/report`)).status).toBe(200);
    });
  }
});
