import { expect, test } from "bun:test";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { evaluatorProfileClient } from "../support/resources/evaluator-profiles.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const sample = {
  trajectory_id: "t",
  step: 0,
  interaction: { state: "closed", action: "open" },
  next_state: "open",
};

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const profiles = evaluatorProfileClient(() => presage);
  const { create, end, samples } = runClient(presage);
  const family = { evaluator_family: "contains" };
  const passing = { ...family, config: { substrings: ["the door"] } };

  /** A run that waits for its predictions, judged by a profile. */
  async function newRun(profile_name: string) {
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, [sample]);
    const evaluators = [{ evaluator: "contains", profile_name }];
    return await create({ dataset_id, target: { predictions: "imported" }, evaluators });
  }

  async function verdictsAfterUpload(id: string) {
    const lines = '{"index":0,"prediction":"the door is open"}';
    expect((await presage.call("POST", `/v1/runs/${id}/predictions`, lines)).status).toBe(200);
    expect(await end(id, 20_000)).toMatchObject({ status: "finished" });
    return (await samples(id)).flatMap(({ verdicts }) => verdicts.map(({ pass }) => pass));
  }

  test("a run is judged by its profile to its end, although the profile is archived before", async () => {
    const profile = await profiles.create({ ...passing, name: "archived before the end" });
    const { id } = await newRun(profile.name);
    await profiles.archive(profile);
    expect(await verdictsAfterUpload(id)).toEqual([true]);
    const body = { evaluators: [{ evaluator: "exact-match" }] };
    expect((await presage.call("POST", `/v1/runs/${id}/evaluators`, body)).status).toBe(200);
    expect(await end(id, 20_000)).toMatchObject({ status: "finished", progress: { evaluated: 1 } });
  });

  test("verdicts of two revisions of a profile do not go by one name", async () => {
    const profile = await profiles.create({ ...passing, name: "revised" });
    const { id } = await newRun(profile.name);
    expect(await verdictsAfterUpload(id)).toEqual([true]);
    await profiles.revise(profile, { config: { substrings: ["the window"] } });
    const body = { evaluators: [{ evaluator: "contains", profile_name: profile.name }] };
    const refused = await presage.call("POST", `/v1/runs/${id}/evaluators`, body);
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining("is judged by revision 1 of the profile revised, which has revision 2 now"),
    ]);
  });

  test("a run is judged by its own profile, although a later one has its name and revision as a name", async () => {
    const { name } = await profiles.create({ ...passing, name: "shadowed" });
    const { id } = await newRun(name);
    await profiles.create({ ...family, name: `${name}:1`, config: { substrings: ["the window"] } });
    expect(await verdictsAfterUpload(id)).toEqual([true]);
  });
});
