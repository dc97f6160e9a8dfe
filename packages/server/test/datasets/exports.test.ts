import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { testKey } from "../support/presage/presage.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { datasetClient, toLines } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

const secret = `ghp_${"a1B2".repeat(9)}`;
const step = (trajectory_id: string, step: number, rest = {}) => ({
  trajectory_id,
  step,
  context: { task_context: "Find the key." },
  interaction: { state: `state ${step}`, action: '{"input":{"cmd":"ls"},"tool":"shell"}' },
  next_state: `state ${step + 1}`,
  ...rest,
});
/** Two trajectories, whose steps alternate. */
const samples = [
  step("a", 0),
  step("b", 0, { next_state: `token ${secret}` }),
  step("a", 1, { reward: 1, done: true }),
  step("b", 1, { reward: 0 }),
];

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const datasets = datasetClient(presage);
  const { create, end } = runClient(presage);

  async function lines(path: string, expected = 200) {
    const response = await presage.call("GET", path);
    const text = await response.text();
    expect([response.status, text]).toEqual([expected, expect.any(String)]);
    const count = response.headers.get("x-presage-count");
    return {
      text,
      count,
      lines:
        text.trim() === ""
          ? []
          : text
              .trim()
              .split("\n")
              .map((line) => JSON.parse(line)),
    };
  }

  async function newRun(id: string, target: object, mode = "teacher-forced") {
    const evaluators = [{ evaluator: "exact-match" }];
    const run = await create({ dataset_id: id, target, evaluators, repeats: 2, mode });
    await end(run.id);
    return run.id;
  }

  test("a dataset is exported a trajectory a line, without secrets, and what it was imports again", async () => {
    const id = await datasets.create();
    await datasets.uploadNew(id, samples);
    for (const format of ["atif", "openai-chat"]) {
      const exported = await lines(`/v1/datasets/${id}/export?format=${format}`);
      expect([exported.count, exported.lines.map((line) => line.id ?? line.session_id)]).toEqual([
        "4",
        ["a", "b"],
      ]);
      expect(exported.text).not.toContain(secret);
      const plain = await lines(`/v1/datasets/${id}/export?format=${format}&redact=none`);
      const copy = await datasets.create();
      const uploaded = await presage.call("POST", `/v1/datasets/${copy}/revisions?redact=none`, plain.lines);
      expect(uploaded.status).toBe(201);
      const sorted = (found: { dataset_sample_id: string }[]) =>
        found.toSorted((one, other) => (one.dataset_sample_id < other.dataset_sample_id ? -1 : 1));
      const [before, after] = await Promise.all(
        [id, copy].map(async (one) => sorted((await lines(`/v1/datasets/${one}/export`)).lines)),
      );
      expect(after).toEqual(before ?? []);
    }
    const success = await lines(`/v1/datasets/${id}/export?format=sft&only=success`);
    expect(success.lines).toMatchObject([
      { trajectory_id: "a", messages: [{ role: "system" }, {}, {}, {}, {}] },
    ]);
    expect((await lines(`/v1/datasets/${id}/export?format=otel-genai`)).text).not.toContain("state 1");
    const zipped = await fetch(`${presage.url}/v1/datasets/${id}/export`, {
      headers: { "x-api-key": testKey, "accept-encoding": "gzip" },
      decompress: false,
    });
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await zipped.bytes()).toString()).toBe((await lines(`/v1/datasets/${id}/export`)).text);
    await lines(`/v1/datasets/${id}/export?format=preference`, 422);
    for (const query of ["only=success", "format=openai-chat&min_reward=1", "format=sft&version=1.8"]) {
      const refused = await lines(`/v1/datasets/${id}/export?${query}`, 422);
      expect(refused.text).toContain("It has no effect with format=");
    }
  });

  test("a run is exported as it predicted, and as pairs to train on", async () => {
    const id = await datasets.create();
    await datasets.uploadNew(id, samples);
    const unchanged = await newRun(id, { baseline: "no-change" });
    const chats = await lines(`/v1/runs/${unchanged}/export?format=openai-chat`);
    // The trajectories' steps are interleaved in the dataset.
    expect(chats.lines.map(({ id, messages }) => [id, messages.length])).toEqual(
      ["a/repeat-0", "a/repeat-1", "b/repeat-0", "b/repeat-1"].map((one) => [one, 6]),
    );
    await lines(`/v1/runs/${unchanged}/export?evaluator=exact-match`, 422);
    await lines(`/v1/runs/${unchanged}/export?format=sft&profile_name=default`, 422);
    const same = await lines(`/v1/runs/${unchanged}/export?format=preference`);
    expect(same.lines).toEqual([]);
    const pairs = await lines(
      `/v1/runs/${unchanged}/export?format=preference&chosen=reference&evaluator=exact-match`,
    );
    expect(pairs.lines).toHaveLength(4);
    expect(pairs.lines[0]).toEqual({
      prompt: [
        { role: "system", content: "## TASK CONTEXT\nFind the key." },
        { role: "user", content: expect.any(String) },
      ],
      chosen: [{ role: "assistant", content: "state 1" }],
      rejected: [{ role: "assistant", content: "state 0" }],
      margin: 1,
    });
    const copy = await datasets.create();
    await datasets.uploadNew(copy, samples);
    const other = await newRun(copy, { baseline: "no-change" });
    const refused = await lines(`/v1/runs/${unchanged}/export?format=preference&against=${other}`, 422);
    expect(refused.text).toContain("of another revision");
    const free = await newRun(id, { baseline: "no-change" }, "free-running");
    const pairless = await lines(`/v1/runs/${unchanged}/export?format=preference&against=${free}`, 422);
    expect(pairless.text).toContain("make no pairs");
  });

  test("in free-running mode a step starts from the prediction before, wherever the samples lie", async () => {
    const id = await datasets.create();
    const turns = ["look", "state 1", "open"].map((content, at) => ({
      role: at === 1 ? "assistant" : "user",
      content,
    }));
    const talk = [0, 1].map((step) => ({
      ...{ trajectory_id: "c", step, next_state: `state ${step + 1}` },
      messages: turns.slice(0, 1 + 2 * step),
    }));
    const recorded = [...samples, ...talk];
    await datasets.uploadNew(id, recorded.toReversed());
    const evaluators = [{ evaluator: "exact-match" }];
    const run = await create({
      dataset_id: id,
      target: { predictions: "imported" },
      mode: "free-running",
      evaluators,
    });
    const guesses = recorded.map(({ trajectory_id, step }) => ({
      dataset_sample_id: `${trajectory_id}/${step}`,
      prediction: `guess ${trajectory_id}/${step}`,
    }));
    await presage.call("POST", `/v1/runs/${run.id}/predictions`, toLines(guesses));
    await end(run.id);
    const { lines: dialogues } = await lines(`/v1/runs/${run.id}/export?format=sft`);
    expect(dialogues).toHaveLength(3);
    for (const { trajectory_id, messages } of dialogues)
      expect(JSON.stringify(messages.slice(-3, -1))).toContain(`guess ${trajectory_id}/0`);
  });

  test("stored predictions are spans, with texts only if they are asked for", async () => {
    const id = await datasets.create();
    await datasets.uploadNew(id, samples);
    await newRun(id, { deployment: "sandbox" });
    const brief = await lines("/v1/predictions/export?source=run");
    expect(Number(brief.count)).toBeGreaterThan(7);
    expect(brief.text).not.toContain("Find the key.");
    const whole = await lines("/v1/predictions/export?source=run&content=true");
    expect(whole.lines[0].resourceSpans[0].scopeSpans[0].spans[0].name).toStartWith("chat ");
    expect(whole.text).toContain("Find the key.");
    expect(whole.text).not.toContain(secret);
  });
});
