import { describe, expect, test } from "bun:test";
import { DatasetFormat, DatasetLine } from "@presage/contract";
import { seeded } from "../../../test/support/seeded.ts";
import { isWholeRun } from "../../../test/support/whole-run.ts";
import { UploadError } from "../../platform/errors.ts";
import { LeftOut } from "./content.ts";
import { importText } from "./import-text.fixture.ts";
import { atif } from "./layouts/agents/atif.ts";
import { openAiChat } from "./layouts/messages/openai-chat.ts";
import { chat } from "./layouts/messages/own.ts";
import { findLayout, layouts } from "./layouts.ts";
import { mutated } from "./mutated.fixture.ts";

const mutations = isWholeRun ? 300 : 40;

test("the order in which a layout is told is that of the contract", () => {
  const known = new Set(layouts.map(({ format }) => format));
  const [presage, llmSim, ...others] = DatasetFormat.options.filter((format) => known.has(format));
  // A transition of LLM-Sim may have a field `next_state`, but none of Presage's own lines has a `tick_state`.
  expect(layouts.map(({ format }) => format)).toEqual([llmSim, presage, ...others] as DatasetFormat[]);
});

for (const { format, about } of layouts) {
  describe(format, () => {
    test("its example is recognised, and reads the same if the layout is named", async () => {
      const told = await importText(about.example);
      expect(told.figures.files.map((file) => file.format)).toEqual([format]);
      expect(told.samples.length).toBeGreaterThan(0);
      const named = await importText(about.example, { format });
      expect(named.samples).toEqual(told.samples);
      expect({ ...named.figures, files: [] }).toEqual({ ...told.figures, files: [] });
    });

    test(
      "what is changed anywhere in its example is read as samples that can be stored, or refused",
      seeded(async (draw) => {
        for (let left = mutations; left > 0; left -= 1) {
          const text = mutated(draw, about.example);
          const options = {
            step: draw.pick(["call", "turn"] as const),
            keepsThoughts: draw.chance(0.5),
            assistantIs: draw.pick(["agent", "environment", undefined] as const),
          };
          for (const named of [undefined, format]) await readOrRefuse(text, { format: named, ...options });
        }
      }),
    );
  });
}

test.each(["claude-code", "codex", "sts", "openhands"])(
  "a session of %s over 256 MiB is one fault, and not held",
  (format) => {
    const { about, open } = findLayout(format);
    const { example } = about;
    const values = example.startsWith("[")
      ? JSON.parse(example)
      : example.split("\n").map((one) => JSON.parse(one));
    const reader = open({
      source: undefined,
      assistantIs: undefined,
      score: undefined,
      leftOut: new LeftOut(),
    });
    const read = (value: unknown, bytes: number) => [...reader.read({ value, place: ["line", 1], bytes })];
    const [first, second, third] = values;
    read(first, 10);
    read(second, 200_000_000);
    expect(() => read(third, 100_000_000)).toThrow("longer than 268435456 bytes");
    const turns = [...(reader.end?.() ?? [])].flatMap((one) => ("trace" in one ? one.trace.turns : []));
    expect(turns).toEqual([]);
  },
);

test("a line of another layout is a fault that says which; so is every line if the wrong one is named", async () => {
  const { example } = openAiChat.about;
  await expect(importText(`${atif.about.example}\n${atif.about.example}\n${example}`)).rejects.toMatchObject({
    faults: [{ line: 3, reason: expect.stringContaining("openai-chat, and the file before it like atif") }],
  });
  const texts = Array.from({ length: 100 }, () => chat.about.example).join("\n");
  await expect(importText(`${texts}\n${example}`)).rejects.toMatchObject({
    faults: [{ line: 101, reason: expect.stringContaining("openai-chat, and the file before it like chat") }],
  });
  await expect(importText(example, { format: "atif" })).rejects.toMatchObject({
    faults: [{ line: 1, path: ["schema_version"], reason: expect.stringMatching(/openai-chat, not atif$/) }],
  });
});

test("a line whose messages are no list does not make its file a chat", async () => {
  const { example } = openAiChat.about;
  for (const messages of [null, JSON.stringify(JSON.parse(example).messages)]) {
    const text = `${example}\n${JSON.stringify({ messages })}\n${example}`;
    const { figures } = await importText(text, { skipsFaults: true });
    expect(figures).toMatchObject({ files: [{ format: "openai-chat" }], skipped: 1 });
    const refused = importText(text);
    await expect(refused).rejects.toMatchObject({
      faults: [{ line: 2, path: ["messages"], reason: expect.not.stringContaining("looks like") }],
    });
  }
});

async function readOrRefuse(text: string, options: Parameters<typeof importText>[1]) {
  try {
    for (const sample of (await importText(text, options)).samples) {
      const { trajectory_id, tags } = sample;
      expect([text, trajectory_id.isWellFormed() && !trajectory_id.includes("\0")]).toEqual([text, true]);
      // Samples that are stored unchanged may have a long id, and fields that a revision does not keep.
      const isMade = tags?.source !== undefined;
      if (isMade) expect([text, DatasetLine.safeParse(sample).error?.issues]).toEqual([text, undefined]);
    }
  } catch (error) {
    const how = JSON.stringify(options);
    if (!(error instanceof UploadError)) throw new Error(`It fails on ${text} with ${how}`, { cause: error });
  }
}
