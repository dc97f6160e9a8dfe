import { expect, test } from "bun:test";
import type { WorldPreview } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { markedSamples, readMarks, worldClient } from "../support/resources/worlds.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { completion, type ReceivedRequest } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

onAnyDatabase((database) => {
  const upstream = useUpstream();
  const presage = usePresage({
    database,
    get PRESAGE_UPSTREAM_URL() {
      return upstream.url;
    },
  });
  const datasets = datasetClient(presage);
  const worlds = worldClient(presage);
  const { create, end, change, samples, exported } = runClient(presage);

  async function newDataset(lines: readonly object[] = markedSamples): Promise<string> {
    const id = await datasets.create();
    await datasets.uploadNew(id, lines);
    return id;
  }

  /** The requests received from now on. The model names the room that it was told; its answers contain no trajectory's word. */
  function listen(): ReceivedRequest["body"][] {
    const asked: ReceivedRequest["body"][] = [];
    upstream.answer = ({ body }) => {
      asked.push(body);
      return Response.json(completion(`Room of ${readMarks(body.messages).own}, predicted.`));
    };
    return asked;
  }

  // biome-ignore lint/suspicious/noExplicitAny: each of the responses has a shape of its own
  const get = async (path: string): Promise<any> => await (await presage.call("GET", path)).json();

  async function detailOf(runId: string, sampleId: string) {
    const sample = (await samples(runId)).find(({ dataset_sample_id }) => dataset_sample_id === sampleId);
    return await get(`/v1/predictions/${sample?.prediction.id}`);
  }

  test("neither its own trajectory nor its own task is an example of a sample, whatever dataset the examples are of", async () => {
    const examples = { dataset: await newDataset() };
    const dataset_id = await newDataset();
    await worlds.create("by-trajectory", { examples, history: { steps: 0 } });
    await worlds.create("by-task", {
      ...{ examples, history: { steps: 0 } },
      retrieval: { exclude_by: "tag:task", place: "system" },
    });
    const others = { a: ["bcd", "cd"], b: ["acd", "cd"], c: ["abd", "ab"], d: ["abc", "ab"] };
    for (const mode of ["teacher-forced", "free-running"]) {
      for (const [index, world] of ["by-trajectory", "by-task"].entries()) {
        const asked = listen();
        const { id } = await create({ dataset_id, target: { world }, mode, repeats: 2 });
        expect(await end(id)).toMatchObject({ status: "finished", progress: { predicted: 24, failed: 0 } });
        const told = asked.map(({ messages }) => readMarks(messages));
        expect(told).toHaveLength(24);
        for (const { own, trajectories } of told)
          expect(trajectories).toBe(others[own as keyof typeof others][index] ?? "");
      }
    }
  });

  test("conversations are told their own earlier answers and no later ones", async () => {
    const conversations = markedSamples.map(({ interaction, context: _, ...sample }, index) => {
      const before = markedSamples.slice(index - sample.step, index);
      const turns = [...before, { interaction, next_state: "" }].flatMap((one) => [
        { role: "user", content: `${one.interaction.state} ${one.interaction.action}` },
        { role: "assistant", content: one.next_state },
      ]);
      return { ...sample, messages: [{ role: "system", content: "Doors." }, ...turns.slice(0, -1)] };
    });
    const dataset_id = await newDataset(conversations);
    await worlds.create("chats", { examples: { dataset: dataset_id } });
    for (const mode of ["teacher-forced", "free-running"]) {
      const asked = listen();
      const { id } = await create({ dataset_id, target: { world: "chats" }, mode });
      expect(await end(id)).toMatchObject({ status: "finished", progress: { predicted: 12, failed: 0 } });
      for (const { messages } of asked) {
        const { ofOwn, trajectories } = readMarks(messages);
        const [, step] = /open door (\d)/.exec(messages.at(-1)?.content ?? "") ?? [];
        const told = mode === "free-running" ? [] : [0, 1].slice(0, Number(step));
        expect(ofOwn).toEqual(told);
        expect(trajectories.length).toBe(told.length > 0 ? 4 : 3);
      }
    }
  });

  test("the steps before are told as recorded, or as they were predicted", async () => {
    const dataset_id = await newDataset();
    await worlds.create("told", { examples: { dataset: await newDataset() }, retrieval: { k: 1 } });
    const forced = listen();
    await end((await create({ dataset_id, target: { world: "told" } })).id);
    // The preview of a sample is what a run sends for it.
    const previews = markedSamples.map(async ({ trajectory_id, step }) => {
      const sample = { dataset: dataset_id, dataset_sample_id: `${trajectory_id}/${step}` };
      const response = await presage.call("POST", "/v1/worlds/told/preview", { sample });
      const { messages } = (await response.json()) as WorldPreview;
      return JSON.stringify(messages);
    });
    expect(new Set(await Promise.all(previews))).toEqual(
      new Set(forced.map(({ messages }) => JSON.stringify(messages))),
    );
    const lastOf = (asked: typeof forced, step: number) =>
      asked.map(({ messages }) => messages).find((all) => all.at(-1)?.content?.includes(`open door ${step}`));
    expect(lastOf(forced, 2)?.slice(-5)).toEqual([
      { role: "user", content: "Action: open door 0" },
      { role: "assistant", content: expect.stringMatching(/^Opened: word-[a-d]0-end\.$/) },
      { role: "user", content: "Action: open door 1" },
      { role: "assistant", content: expect.stringMatching(/^Opened: word-[a-d]1-end\.$/) },
      { role: "user", content: expect.stringMatching(/^State: Room of [a-d], 2\.\n\nAction: open door 2$/) },
    ]);
    for (const { messages } of forced) {
      const { ofOwn } = readMarks(messages);
      const [, step] = /open door (\d)/.exec(messages.at(-1)?.content ?? "") ?? [];
      expect(ofOwn.every((one) => one < Number(step))).toBe(true);
    }
    const free = listen();
    await end((await create({ dataset_id, target: { world: "told" }, mode: "free-running" })).id);
    expect(lastOf(free, 2)?.slice(-5)).toEqual([
      { role: "user", content: "Action: open door 0" },
      { role: "assistant", content: expect.stringMatching(/^Room of [a-d], predicted\.$/) },
      { role: "user", content: "Action: open door 1" },
      { role: "assistant", content: expect.stringMatching(/^Room of [a-d], predicted\.$/) },
      {
        role: "user",
        content: expect.stringMatching(/^State: Room of [a-d], predicted\.\n\nAction: open door 2$/),
      },
    ]);
    expect(free.flatMap(({ messages }) => readMarks(messages).ofOwn)).toEqual([]);
  });

  test("a run keeps the revision of its world, and each prediction what it leaned on", async () => {
    const dataset_id = await newDataset();
    const examples = { dataset: dataset_id };
    await worlds.create("shop", { examples, model: { params: { temperature: 0.3, max_tokens: 7 } } });
    const asked = listen();
    const { id, target } = await create({
      dataset_id,
      target: { world: "shop" },
      params: { temperature: 1 },
    });
    expect(target).toEqual({ world: "shop@1" });
    expect(await end(id)).toMatchObject({
      ...{ target, name: expect.stringMatching(/^shop@1 /) },
      provenance: { models: ["test-model"] },
    });
    expect(asked[0]).toMatchObject({ temperature: 1, max_tokens: 7 });
    const detail = await detailOf(id, "a/1");
    expect(detail).toMatchObject({
      ...{ deployment: "default", model: "test-model", params: { temperature: 1, max_tokens: 7 } },
      interaction: { state: "Room of a, 1.", action: "open door 1" },
      world: { name: "shop", revision: 1, answered_by: "default" },
    });
    expect(detail.world.examples[0]).toEqual({
      dataset_sample_id: expect.stringMatching(/^[b-d]\/1$/),
      trajectory_id: expect.stringMatching(/^[b-d]$/),
      similarity: expect.any(Number),
    });
    const other = await create({ dataset_id, target: { baseline: "retrieval" } });
    await end(other.id);
    const compared = await get(`/v1/comparisons?runs=${other.id},${id}`);
    const listed = await get("/v1/runs?limit=2");
    const report = await get(`/v1/runs/${id}/report`);
    for (const run of [compared.runs[1], listed.data[1], report.run]) expect(run.target).toEqual(target);
    expect(await exported(id)).toHaveLength(12);
  });

  slowTest("a world of records alone answers as the baseline does, without a call", async () => {
    const dataset_id = await newDataset([
      ...markedSamples,
      { trajectory_id: "e", step: 0, interaction: { state: "7", action: "wave" }, next_state: "You wave." },
    ]);
    const examples = { dataset: dataset_id };
    await worlds.create("adapted", { examples, model: { kind: "retrieval" } });
    await worlds.create("nearest", { examples, model: { kind: "retrieval", answer: "nearest" } });
    const asked = listen();
    const textsOf = async (target: object, mode: string) => {
      const { id } = await create({ dataset_id, target, mode });
      expect(await end(id)).toMatchObject({ status: "finished", progress: { failed: 0 } });
      return { id, texts: (await exported(id)).map(({ prediction }) => prediction) };
    };
    for (const mode of ["teacher-forced", "free-running"]) {
      const adapted = await textsOf({ world: "adapted" }, mode);
      expect(adapted.texts).toEqual((await textsOf({ baseline: "retrieval" }, mode)).texts);
      expect(adapted.texts[1]).toMatch(/^Opened: word-[b-d]1-end\.$/);
      const nearest = await textsOf({ world: "nearest" }, mode);
      expect(await detailOf(nearest.id, "a/1")).toMatchObject({
        ...{ deployment: "retrieval", model: null, latency_ms: null, prompt_tokens: null },
        world: { answered_by: "retrieval" },
      });
    }
    expect(asked).toEqual([]);
  });

  test("answers that fall back on the records are told from the model's", async () => {
    const dataset_id = await newDataset();
    const examples = { dataset: dataset_id };
    await worlds.create("falling-back", { examples, model: { fallback: "retrieval" } });
    upstream.answer = ({ body }) =>
      body.messages.at(-1)?.content?.includes("open door 1")
        ? Response.json({ error: { message: "away" } }, { status: 503 })
        : Response.json(completion("Here."));
    const { id } = await create({ dataset_id, target: { world: "falling-back" } });
    expect(await end(id)).toMatchObject({
      progress: { predicted: 12 },
      provenance: { models: ["test-model"] },
    });
    expect(await detailOf(id, "b/1")).toMatchObject({
      ...{ deployment: "retrieval", output: expect.stringMatching(/^Opened: word-[acd]1-end\.$/) },
      world: { answered_by: "retrieval" },
    });
    const report = await get(`/v1/runs/${id}/report`);
    expect(report.world).toMatchObject({ answered_by: { default: 8, retrieval: 4 } });
  });

  test("a world that is not there cannot be run, and one that a run is under way through not deleted", async () => {
    const dataset_id = await newDataset();
    await worlds.create("held", { examples: { dataset: dataset_id } });
    for (const world of ["nowhere", "held@7"]) {
      const evaluators = [{ evaluator: "exact-match" }];
      const refused = await presage.call("POST", "/v1/runs", { dataset_id, target: { world }, evaluators });
      expect(refused.status).toBe(422);
      expect(await refused.text()).toContain(world === "nowhere" ? "no world named nowhere" : "latest is 1");
    }
    upstream.answer = async () => {
      await Bun.sleep(20);
      return Response.json(completion("Here."));
    };
    const { id, name } = await create({
      dataset_id,
      target: { world: "held" },
      name: "under way",
      repeats: 20,
    });
    expect(await worlds.remove("held")).toEqual({ status: 409, detail: expect.stringContaining(name) });
    await change(id, "cancel");
    expect(await worlds.remove("held")).toMatchObject({ status: 204 });
    expect((await presage.call("GET", `/v1/runs/${id}`)).status).toBe(200);
  });

  test("a run waits once its world's examples are deleted, and asks nothing with them", async () => {
    const dataset_id = await newDataset();
    const dataset = await newDataset();
    await worlds.create("gone", { examples: { dataset } });
    const marked: boolean[] = [];
    upstream.answer = async ({ body }) => {
      marked.push(readMarks(body.messages).trajectories !== "");
      if (marked.length === 3)
        expect((await presage.call("DELETE", `/v1/datasets/${dataset}`)).status).toBe(204);
      return Response.json(completion("Here."));
    };
    const { id } = await create({ dataset_id, target: { world: "gone" }, concurrency: 1 });
    const { status_reason } = await eventually(
      () => get(`/v1/runs/${id}`),
      ({ status }) => status === "paused",
    );
    expect(status_reason).toStartWith("The dataset with the examples of the world");
    expect(marked).toEqual([true, true, true]);
    await change(id, "cancel");
  });

  test("a report says what was left out, what the samples have in common with the examples, and whether the records are beaten", async () => {
    // Two trajectories that differ only in their ids, and twelve that differ from all others.
    const lines = ["a", "b", ..."cdefghijklmn"].flatMap((trajectory_id, index) =>
      [0, 1].map((step) => ({
        ...{ trajectory_id, step },
        interaction: { state: `Room ${index < 2 ? 0 : index * 1_111}.`, action: `look at thing ${step}` },
        next_state: `Thing ${step} of room ${index < 2 ? 0 : index * 1_111}.`,
      })),
    );
    const dataset_id = await newDataset(lines);
    await worlds.create("reported", { examples: { dataset: dataset_id } });
    upstream.answer = ({ body }) => {
      const [, room, thing] =
        /Room (\d+)\.\n\nAction: look at thing (\d)$/.exec(body.messages.at(-1)?.content ?? "") ?? [];
      return Response.json(completion(`Thing ${thing} of room ${room}.`));
    };
    const records = await create({ dataset_id, target: { baseline: "retrieval" } });
    await end(records.id);
    const { id } = await create({ dataset_id, target: { world: "reported" } });
    await end(id);
    const report = await get(`/v1/runs/${id}/report`);
    expect(report.world).toEqual({ leaves_out: 28, near_duplicates: 4, answered_by: { default: 28 } });
    expect(report.records).toMatchObject({ run_id: records.id });
    expect(report.records.evaluators[0]).toMatchObject({
      ...{ outcome: "better", difference: expect.closeTo(24 / 28, 6) },
      sentence: expect.stringMatching(
        /^The model beats the records alone by 85\.7 points of the mean score \(95 % interval /,
      ),
    });
    expect(report.provenance.warnings.join("\n")).toContain("4 of 28");
    const page = await (await presage.call("GET", `/v1/runs/${id}/report?format=md`)).text();
    expect(page).toContain("leave one out");
    expect(page).toContain("The model beats the records alone by 85.7 points of the mean score");
  });
});
