import { expect, test } from "bun:test";
import type { DatasetSample, RunExportLine, StoredPredictionDetail } from "@presage/contract";
import * as fc from "fast-check";
import { isWholeRun } from "../../test/support/whole-run.ts";
import { createCanonicaliser, lineOf } from "../datasets/formats.ts";
import { importText } from "../datasets/traces/import-text.fixture.ts";
import { jsonAsWritten } from "../platform/written-json.ts";
import { predictionToOtlp, trajectoryToOtlp } from "./otel.ts";
import { trajectoriesOf } from "./predicted.ts";
import { type Trajectory, toAtif, toOpenAiChat, toSft, toShareGpt } from "./trajectories.ts";

const call = (input: unknown, tool: string) => JSON.stringify({ input, tool });
const action = fc.oneof(
  fc.string({ minLength: 1, unit: "grapheme" }),
  fc.constantFrom(
    "Thought: I look.\nAction: look",
    "  wait ",
    "Action:",
    '{"input":1}',
    '{"input":{"id":9007199254740993,"x":[1.0]},"tool":"sh"}',
    call("{bad", "sh"),
    call([1], "x"),
  ),
  fc
    .tuple(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), fc.string())
    .map(([input, tool]) => call(input, tool)),
);
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", " ", "a\n\nb", "(start)", "[image]"),
);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const sampleOf = fc.record({
  interaction: fc.record({ state: text.filter((state) => state !== ""), action }),
  isChat: fc.boolean(),
  next_state: text,
  reward: optional(fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number || 0)),
  done: optional(fc.boolean()),
  at: optional(fc.constantFrom("2026-11-28T10:00:00Z", "2026-11-28T10:00:00.123456+02:00")),
  usage: optional(
    fc.record(
      { prompt_tokens: fc.nat(), cost_usd: fc.double({ min: 0, max: 9, noNaN: true }) },
      { requiredKeys: [] },
    ),
  ),
  tags: optional(
    fc.dictionary(fc.constantFrom("source", "model", "agent", "error", "x"), fc.string({ minLength: 1 })),
  ),
  gap: fc.nat(2),
  ownId: fc.boolean(),
});
const context = optional(
  fc.record(
    {
      task_context: text,
      domain_knowledge: text,
      tool_schemas: fc.oneof(
        text,
        fc.constantFrom("[]", '[{"name":"sh"}]', '[{"name":"sh","max":1.0}]', '[{"name": "sh"}]', "[1]"),
      ),
      environment_state: text,
    },
    { requiredKeys: [] },
  ),
);
const storable = (value: unknown) => !JSON.stringify(value).includes("\\u0000");
const trajectory = fc
  .tuple(fc.stringMatching(/^[\w./ -]{1,40}$/), context, fc.array(sampleOf, { minLength: 1, maxLength: 5 }))
  .filter(storable)
  .map(([id, context, made]): Trajectory => {
    let step = -1;
    const samples = made.map(({ interaction, isChat, gap, ownId, ...rest }): DatasetSample => {
      step += 1 + gap;
      const asked = isChat
        ? { messages: [{ role: "user" as const, content: interaction.action }] }
        : { ...(context && { context }), interaction };
      const dataset_sample_id = ownId ? `own-${step}` : `${id}/${step}`;
      return JSON.parse(JSON.stringify({ dataset_sample_id, trajectory_id: id, step, ...asked, ...rest }));
    });
    return { id, samples };
  });

/** Samples in their canonical form, as they are stored. */
function stored(samples: readonly Parameters<ReturnType<typeof createCanonicaliser>>[0][]) {
  const canonicalise = createCanonicaliser();
  return samples.map((sample) => JSON.parse([...lineOf(canonicalise(sample))].join("")));
}

test.each([
  ["atif", (one: Trajectory) => toAtif(one, "1.7")],
  ["openai-chat", toOpenAiChat],
] as const)("an import of an export as %s is what was exported", async (format, write) => {
  await fc.assert(
    fc.asyncProperty(trajectory, async (one) => {
      const file = `${jsonAsWritten(write(one))}\n`;
      const { samples, figures } = await importText(file, { redaction: "none" });
      expect(figures.format).toBe(format);
      expect(stored(samples)).toEqual(stored(one.samples));
    }),
    { numRuns: isWholeRun ? 300 : 60 },
  );
});

test("what an import would refuse as too long is exported all the same", () => {
  const one = { trajectory_id: "t", interaction: { state: "s", action: "go" }, next_state: "x" };
  const samples = Array.from({ length: 10_001 }, (_, step) => ({
    ...one,
    dataset_sample_id: `t/${step}`,
    step,
  }));
  const long = { ...one, dataset_sample_id: "t/0", step: 0, next_state: "x".repeat(5_000_000) };
  expect(toAtif({ id: "t", samples }, "1.7")).toMatchObject({ session_id: "t" });
  expect(toOpenAiChat({ id: "t", samples: [long] })).toMatchObject({ id: "t" });
});

const shop: Trajectory = {
  id: "run-88",
  samples: [
    {
      dataset_sample_id: "run-88/0",
      trajectory_id: "run-88",
      step: 0,
      context: {
        task_context: "Find the key.",
        domain_knowledge: "Be quick.",
        tool_schemas: '[{"name":"shell"}]',
      },
      interaction: { state: "Find the key.", action: call({ cmd: "ls" }, "shell") },
      next_state: "key.txt",
      at: "2026-11-28T10:00:00Z",
      usage: { prompt_tokens: 7 },
    },
    {
      dataset_sample_id: "run-88/1",
      trajectory_id: "run-88",
      step: 1,
      context: {
        task_context: "Find the key.",
        domain_knowledge: "Be quick.",
        tool_schemas: '[{"name":"shell"}]',
      },
      interaction: { state: "key.txt", action: "I found it." },
      next_state: "Well done.",
      reward: 1,
      done: true,
      at: "2026-11-28T10:00:02Z",
    },
  ],
};

test("a chat has the environment's texts as the user's or a tool's, and nothing stated that it says itself", () => {
  expect(toOpenAiChat(shop)).toEqual({
    id: "run-88",
    messages: [
      { role: "system", content: "Be quick." },
      { role: "user", content: "Find the key." },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "shell", arguments: '{"cmd":"ls"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "key.txt" },
      { role: "assistant", content: "I found it." },
      { role: "user", content: "Well done." },
    ],
    tools: [{ name: "shell" }],
    reward: 1,
    extra: {
      presage: [
        { at: "2026-11-28T10:00:00Z", usage: { prompt_tokens: 7 }, tags: null },
        { done: true, at: "2026-11-28T10:00:02Z", tags: null },
      ],
    },
  });
});

test("ShareGPT's form imports with the same states and actions", async () => {
  const { samples, figures } = await importText(JSON.stringify(toShareGpt(shop)));
  expect(figures.format).toBe("sharegpt");
  expect(samples.map(({ interaction, next_state, reward }) => [interaction, next_state, reward])).toEqual(
    shop.samples.map(({ interaction, next_state, reward }) => [interaction, next_state, reward]),
  );
});

test("OTLP has an agent's span with a tool's for each action, and texts only if asked", async () => {
  const withTexts = JSON.stringify(trajectoryToOtlp(shop, { content: true }));
  const { samples, figures } = await importText(`${withTexts}\n`);
  expect(figures).toMatchObject({ format: "otel-genai", samples: 2, with: { time: 2 } });
  expect(samples.map(({ next_state }) => next_state)).toEqual(["key.txt", "Well done."]);
  expect(JSON.stringify(trajectoryToOtlp(shop, { content: false }))).not.toContain("key.txt");
});

test("a prediction's span names its world, its confidence and the examples that it leaned on", () => {
  const world = {
    name: "shop",
    revision: 3,
    answered_by: "small",
    examples: [{ dataset_sample_id: "run-88/0" }],
  };
  const made = { id: "1", created_at: "2026-11-28T10:00:00Z", output: null, finish_reason: null };
  // The fields that are not given are null.
  const span = JSON.stringify(
    predictionToOtlp({ ...made, world, confidence: 0.75 } as StoredPredictionDetail),
  );
  for (const [key, value] of [
    ["world", { stringValue: "shop@3" }],
    ["confidence", { doubleValue: 0.75 }],
    ["retrieval.examples", { arrayValue: { values: [{ stringValue: "run-88/0" }] } }],
  ])
    expect(span).toContain(JSON.stringify({ key: `presage.${key}`, value }));
});

test("the spans of a trajectory follow each other, whatever times its samples have", async () => {
  const times = [undefined, "2026-11-28_10:00:05.000001", undefined, "1969-11-28T10:00:01Z"];
  const samples = times.map((at, step) => ({
    ...{ dataset_sample_id: `a/${step}`, trajectory_id: "a", step, ...(at && { at }) },
    interaction: { state: "s", action: call({ step }, "shell") },
    next_state: String(step),
  }));
  const document: ReturnType<typeof JSON.parse> = trajectoryToOtlp({ id: "a", samples }, { content: true });
  const [root, ...spans] = document.resourceSpans[0].scopeSpans[0].spans;
  const ended = spans.reduce(
    (before: string, { startTimeUnixNano: start, endTimeUnixNano: end }: typeof root) => {
      expect([BigInt(before) <= BigInt(start), BigInt(start) <= BigInt(end)]).toEqual([true, true]);
      return end;
    },
    root.startTimeUnixNano,
  );
  expect(root.endTimeUnixNano).toBe(ended);
  expect(spans[1].endTimeUnixNano).toBe("1795860005000001001");
  const found = (await importText(JSON.stringify(document))).samples.map(({ next_state }) => next_state);
  expect(found).toEqual(["0", "1", "2", "3"]);
});

test("training data has the world's turns or the agent's, of trajectories that qualify", () => {
  const world = { direction: "world", onlySuccess: true, minReward: 1, marksLoss: false } as const;
  expect(toSft(shop, world)[0]).toMatchObject({
    messages: [
      { role: "system" },
      { role: "user", content: expect.stringContaining("State: Find the key.") },
      { role: "assistant", content: "key.txt" },
      { role: "user", content: "State: key.txt\n\nAction: I found it." },
      { role: "assistant", content: "Well done." },
    ],
    trajectory_id: "run-88",
  });
  const agent = { ...world, direction: "agent", marksLoss: true } as const;
  expect(toSft(shop, agent)[0]).toMatchObject({
    messages: [
      { loss: false },
      { loss: false },
      { role: "assistant", loss: true },
      { loss: false },
      { loss: true },
      {},
    ],
  });
  expect(toSft(shop, agent)[0]).toHaveProperty("tools", '[{"name":"shell"}]');
  expect(toSft(shop, world)[0]).not.toHaveProperty("tools");
  const [first] = shop.samples;
  const interaction = { state: "s", action: call("open door", "act") };
  const texts = { id: "a", samples: [{ ...first, interaction } as DatasetSample] };
  // Chat templates write arguments unchanged, and a model should learn JSON.
  const tool_calls = [{ function: { name: "act", arguments: '"open door"' } }];
  expect(toOpenAiChat(texts)).toMatchObject({ messages: [{}, {}, {}, { tool_calls }, {}] });
  expect(toSft(shop, { ...world, minReward: 2 })).toEqual([]);
  expect(toSft({ ...shop, samples: shop.samples.slice(0, 1) }, world)).toEqual([]);
  expect(toSft({ ...shop, isSuccess: false }, world)).toEqual([]);
});

test("a trajectory that a run did not predict to its end is no success", async () => {
  const verdicts = [{ evaluator: "exact-match", profile_name: "default", pass: true, score: 1 }];
  const predictedUntil = async function* (end: number) {
    for (const [place, sample] of shop.samples.entries()) {
      const line = { repeat: 0, prediction: sample.next_state, verdicts } as unknown as RunExportLine;
      yield { sample: sample as DatasetSample, predictions: [place < end ? [line] : []] };
    }
  };
  const successOf = async (end: number) => {
    const run = { mode: "teacher-forced", repeats: 1 } as const;
    const found = await Array.fromAsync(
      trajectoriesOf(predictedUntil(end), run, ({ verdicts }) => verdicts[0]),
    );
    return found.map(({ isSuccess }) => isSuccess);
  };
  expect(await successOf(shop.samples.length)).toEqual([true]);
  expect(await successOf(shop.samples.length - 1)).toEqual([false]);
});

test("what a conversation says before its first action stays; without a known action nothing is learnt", () => {
  const of = { dataset_sample_id: "c/0", trajectory_id: "c", step: 0, next_state: "It is open." };
  const messages = [
    { role: "system", content: "You are a kitchen." },
    { role: "assistant", content: "You see a fridge." },
    { role: "user", content: "open fridge" },
  ] as const;
  const told: Trajectory = { id: "c", samples: [{ ...of, messages: [...messages] }] };
  const agent = { direction: "agent", onlySuccess: false, minReward: undefined, marksLoss: false } as const;
  const texts = ["You are a kitchen.", "You see a fridge.", "open fridge", "It is open."];
  expect(toSft(told, agent)[0]).toMatchObject({
    messages: ["system", "user", "assistant", "user"].map((role, at) => ({ role, content: texts[at] })),
  });
  expect(toShareGpt(told)).toMatchObject({
    conversations: ["system", "human", "gpt", "human"].map((from, at) => ({ from, value: texts[at] })),
  });
  const unasked: Trajectory = { id: "c", samples: [{ ...of, messages: [] }] };
  expect(toSft(unasked, agent)).toEqual([]);
  expect(toSft({ id: "c", samples: [...unasked.samples, ...told.samples] }, agent)).toMatchObject([
    { messages: [{}, {}, {}, {}] },
  ]);
});

const all = { direction: "world", onlySuccess: false, minReward: undefined, marksLoss: false } as const;
const stepsOf = (samples: object[]): Trajectory => ({
  id: "t",
  samples: samples.map(
    (sample, step) =>
      ({ dataset_sample_id: `t/${step}`, trajectory_id: "t", step, ...sample }) as DatasetSample,
  ),
});

test("of a prediction's prompt the agent learns what it saw and did, not how the model was told to answer", () => {
  const system = { role: "system", content: "Answer with the next state." };
  const first = { role: "user", content: "State: A room.\n\nAction: open box" };
  const then = { role: "user", content: "Action: take key" };
  const played = stepsOf([
    { messages: [system, first], next_state: "The box is open." },
    {
      messages: [system, first, { role: "assistant", content: "The box is open." }, then],
      next_state: "Taken.",
    },
  ]);
  const texts = ["A room.", "open box", "The box is open.", "take key", "Taken."];
  const messages = texts.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content }));
  expect(toSft(played, { ...all, direction: "agent" })).toEqual([{ messages, trajectory_id: "t" }]);
  expect(toOpenAiChat(played)).toMatchObject({ messages });
  const late = { ...played, samples: played.samples.slice(1) };
  expect(toSft(late, { ...all, direction: "agent" })).toEqual([{ messages, trajectory_id: "t" }]);
});

test("a context that changes begins a conversation, and a guess ends what is learnt", () => {
  const step = (state: string, environment_state: string, more: object = {}) => ({
    context: { environment_state, task_context: "Find it." },
    interaction: { state, action: "go" },
    next_state: `after ${state}`,
    ...more,
  });
  const guess = { tags: { abstained: "true" } };
  const changing = stepsOf([
    step("a", "empty"),
    step("b", "empty"),
    step("c", "key"),
    step("d", "key", guess),
  ]);
  const found = toSft(changing, all) as { messages: { role: string; content: string }[] }[];
  expect(found.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
    [
      expect.stringContaining("empty"),
      "State: a\n\nAction: go",
      "after a",
      "State: b\n\nAction: go",
      "after b",
    ],
    [expect.stringContaining("key"), "State: c\n\nAction: go", "after c"],
  ]);
  // Chat templates want alternating roles.
  expect(toSft(changing, { ...all, direction: "agent" })).toMatchObject([
    { messages: [{ role: "user", content: "Find it.\n\na" }, {}, {}, {}, {}, {}, {}] },
  ]);
  expect(toSft(stepsOf([step("a", "empty", guess)]), all)).toEqual([]);
});
