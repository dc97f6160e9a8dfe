import { describe, expect, test } from "bun:test";
import { DatasetFormat, DatasetLine } from "@presage/contract";
import type { Draw } from "../../../../../fuzz/generate/draw.ts";
import { seeded } from "../../../test/support/seeded.ts";
import { UploadError } from "../../platform/errors.ts";
import { importText } from "./import-text.fixture.ts";
import { atif } from "./layouts/agents/atif.ts";
import { openAiChat } from "./layouts/messages/openai-chat.ts";
import { chat } from "./layouts/messages/own.ts";
import { layouts } from "./layouts.ts";

const mutations = 300;

test("the order in which a layout is told is that of the contract", () => {
  const known = new Set(layouts.map(({ format }) => format));
  const [presage, llmSim, ...others] = DatasetFormat.options.filter((format) => known.has(format));
  // A transition of LLM-Sim may have a field `next_state`, and none of Presage's lines has a `tick_state`.
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

async function readOrRefuse(text: string, options: Parameters<typeof importText>[1]) {
  try {
    for (const sample of (await importText(text, options)).samples) {
      const { trajectory_id, tags } = sample;
      expect([text, trajectory_id.isWellFormed() && !trajectory_id.includes("\0")]).toEqual([text, true]);
      // What is stored as it is may have a long id, and fields that a revision does not keep.
      const isMade = tags?.source !== undefined;
      if (isMade) expect([text, DatasetLine.safeParse(sample).error?.issues]).toEqual([text, undefined]);
    }
  } catch (error) {
    const how = JSON.stringify(options);
    if (!(error instanceof UploadError)) throw new Error(`It fails on ${text} with ${how}`, { cause: error });
  }
}

const values: readonly (() => unknown)[] = [
  ...[null, true, 0, -1, 1.5, 1e300, "", "x", "a\u0000b\ud800", "{", "[1]"].map((value) => () => value),
  ...[[], {}, [null], [[]], [{}], { a: 1 }, { type: "text" }, [{ type: "text", text: 1 }]].map(
    (value) => () => structuredClone(value),
  ),
  () => nested(150),
  () => nested(300),
  () => "x".repeat(1_000),
];

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let left = depth; left > 0; left -= 1) value = left % 2 === 0 ? [value] : { content: value };
  return value;
}

/** A file in which one to three values are others, or are not there. */
function mutated(draw: Draw, example: string): string {
  const documents = documentsOf(example);
  for (let left = 1 + draw.below(3); left > 0; left -= 1) {
    const places = placesIn(documents);
    if (places.length === 0) break;
    const [parent, key] = draw.pick(places);
    if (draw.chance(0.25)) Reflect.deleteProperty(parent, key);
    else Reflect.set(parent, key, draw.pick(values)());
  }
  return documents
    .filter((document) => document !== undefined)
    .map((document) => JSON.stringify(document))
    .join("\n");
}

function documentsOf(example: string): unknown[] {
  try {
    return [JSON.parse(example)];
  } catch {
    return example.split("\n").map((line) => JSON.parse(line));
  }
}

/** Every value in a value: what holds it, and where. */
function placesIn(value: object): [object, string][] {
  return Object.entries(value).flatMap(([key, inner]): [object, string][] => [
    [value, key],
    ...(typeof inner === "object" && inner !== null ? placesIn(inner) : []),
  ]);
}
