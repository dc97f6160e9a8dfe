import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

/** More than SQLite accepts parameters in a statement. PostgreSQL, which gets the same statements, accepts twice as many. */
const steps = 33_000;

function trajectory(id: string, count: number) {
  return Array.from({ length: count }, (_, step) => ({
    trajectory_id: id,
    step,
    interaction: { state: `state ${step}`, action: "go on" },
    next_state: step % 2 === 0 ? "even" : `state ${step + 1}`,
  }));
}

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    get PRESAGE_UPSTREAM_URL() {
      return upstream.url;
    },
  });
  const datasets = datasetClient(presage);
  const { create, end } = runClient(presage);

  test("a failed step ends a free-running trajectory, however long it is", async () => {
    upstream.answer = ({ text }) =>
      text.includes("x1")
        ? Response.json({ error: { message: "Bad input." } }, { status: 400 })
        : Response.json(completion("x1"));
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, trajectory("t", steps));
    const { id } = await create({ dataset_id, target: { deployment: "default" }, mode: "free-running" });
    expect(await end(id, 100_000)).toMatchObject({
      status: "finished",
      progress: { samples: steps, predicted: 1, evaluated: steps, failed: steps - 1 },
    });
  });

  test("the commonest next state does not take longer for each step of a long trajectory", async () => {
    const dataset_id = await datasets.create();
    const long = 3_000;
    await datasets.uploadNew(dataset_id, [...trajectory("long", long), ...trajectory("short", 3)]);
    const { id } = await create({ dataset_id, target: { baseline: "most-frequent" } });
    expect(await end(id, 100_000)).toMatchObject({
      status: "finished",
      progress: { samples: long + 3, predicted: long + 3, evaluated: long + 3, failed: 0 },
    });
    const right = await presage.call("GET", `/v1/runs/${id}/samples?evaluator=exact-match&pass=true&limit=1`);
    // In the other trajectory "even" is the most common answer.
    expect(await right.json()).toMatchObject({ data: [{ dataset_sample_id: "long/0" }] });
  });
});
