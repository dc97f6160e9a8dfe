import { expect, test } from "bun:test";
import { importText } from "../../import-text.fixture.ts";

/** As harbor 0.26.0 writes it. */
const trajectory = JSON.parse(await Bun.file(new URL("atif.fixture.json", import.meta.url)).text());

test("a trajectory of harbor's, with a subagent, two calls in a step, copied context and every figure", async () => {
  const { samples, figures } = await importText(JSON.stringify(trajectory), { name: "a.json" });
  const context = {
    task_context: "Find the key.[image]",
    tool_schemas: JSON.stringify(trajectory.agent.tool_definitions),
    domain_knowledge: "Be brief.",
  };
  const usage = { prompt_tokens: 120, completion_tokens: 30, cached_tokens: 100, cost_usd: 0.002 };
  const tags = { source: "atif", agent: "finder", model: "small-1" };
  const at = "2026-01-01T10:00:05.5+02:00";
  const main = [
    {
      interaction: { state: "/room", action: '{"input":{"all":true,"cmd":"ls drawer"},"tool":"shell"}' },
      next_state: "key.txt\nnails",
      ...{ at, usage, tags: { ...tags, model: "big-1" } },
    },
    {
      interaction: { state: "key.txt\nnails", action: '{"input":{},"tool":"weigh"}' },
      next_state: "12 g[image]",
      ...{ at, usage, reward: 0.5, tags: { ...tags, model: "big-1" } },
    },
    {
      interaction: { state: "12 g[image]", action: '{"input":{"cmd":"cat key.txt"},"tool":"shell"}' },
      next_state: "4711",
      ...{ at: "2026-01-01T10:00:09Z", tags },
    },
    {
      interaction: { state: "4711", action: "It is 4711. Is that right?" },
      next_state: "Yes.",
      ...{ at: "2026-01-01T10:01:00Z", reward: 1, tags },
    },
  ];
  expect(samples).toEqual([
    ...main.map((one, step) => ({ trajectory_id: "run-88/main", step, context, ...one })),
    {
      trajectory_id: "run-88/helper",
      step: 0,
      context: { task_context: "Count." },
      interaction: { state: "Count.", action: "count()" },
      next_state: "3",
      tags: { source: "atif", agent: "helper" },
    },
  ]);
  expect(figures.left_out).toEqual({
    last_message_of_agent: 1,
    media: 2,
    other_event: 1,
    reasoning: 1,
    text_beside_call: 1,
  });
  expect(figures.files).toEqual([
    { file: "a.json", format: "atif", recognised_by: "schema_version ATIF-v1.8", reader_version: 1 },
  ]);
});

test("an id is what is there of session and trajectory, else the file's name; a step may end the run", async () => {
  const { steps, ...rest } = trajectory;
  const small = [...steps.slice(1, 2), { ...steps[4], extra: { done: true } }];
  for (const [ids, id] of [
    [{ session_id: "s" }, "s"],
    [{ trajectory_id: "t" }, "t"],
    [{ session_id: null, trajectory_id: 5 }, "file"],
  ] as const) {
    const { session_id, trajectory_id, subagent_trajectories, ...bare } = rest;
    const { samples } = await importText(JSON.stringify([{ ...bare, ...ids, steps: small }]), {
      name: "file.json",
    });
    expect(samples.map((one) => [one.trajectory_id, one.done])).toEqual([[id, true]]);
  }
});

test("results that name no call are of the calls that the others leave", async () => {
  const tool_calls = ["a", "b", "c"].map((id) => ({ tool_call_id: id, function_name: id, arguments: {} }));
  const results = [null, "b", undefined].map((id, at) => ({ source_call_id: id, content: `${at}` }));
  const steps = [{ source: "agent", message: "", tool_calls, observation: { results } }];
  const { samples } = await importText(JSON.stringify({ schema_version: "ATIF-v1.0", steps }));
  expect(samples.map(({ next_state }) => next_state)).toEqual(["0", "1", "2"]);
});

test.each([
  [{ steps: undefined }, ["steps"]],
  [{ steps: {} }, ["steps"]],
  [{ steps: [null] }, ["steps", 0]],
  [{ steps: [{ source: 5 }] }, ["steps", 0, "source"]],
  [
    { steps: [{ source: "agent", tool_calls: [{ function_name: null }] }] },
    ["steps", 0, "tool_calls", 0, "function_name"],
  ],
  [{ steps: [{ source: "agent", observation: [] }] }, ["steps", 0, "observation"]],
  [{ steps: [{ source: "agent", observation: {} }] }, ["steps", 0, "observation", "results"]],
  [{ subagent_trajectories: [1] }, ["subagent_trajectories", 0]],
])("the fault of %j", async (change, path) => {
  const refused = importText(JSON.stringify({ ...trajectory, ...change }));
  await expect(refused).rejects.toMatchObject({ faults: [{ path }] });
});

test("values of other types are passed over", async () => {
  const change = { agent: [], final_metrics: 4, session_id: {}, trajectory_id: null };
  const odd = { message: 4, timestamp: [], metrics: 5, extra: 1, model_name: {}, reasoning_content: [] };
  const text = JSON.stringify({
    ...trajectory,
    ...change,
    steps: trajectory.steps.map((step: object) => ({ ...step, ...odd })),
  });
  expect(
    (await importText(text)).samples.every(({ at, usage }) => at === undefined && usage === undefined),
  ).toBe(true);
});
