import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { bleu } from "./bleu.ts";
import { rougeL } from "./rouge-l.ts";
import { tokenF1 } from "./token-f1.ts";

/** Made by `reference-scores.fixture.py`, which describes them. */
const figure = z.number().nullable();
const Line = z.strictObject({
  gold: z.string(),
  outputs: z.array(z.tuple([z.string(), figure, figure, figure, z.number()])),
});

const pairs = readFileSync(new URL("./reference-scores.fixture.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .flatMap((line) => {
    const { gold, outputs } = Line.parse(JSON.parse(line));
    return outputs.map(([output, precision, recall, f, bleuScore]) => ({
      output,
      gold,
      rouge: { precision, recall, f },
      bleuScore,
    }));
  });
const isRefused = ({ rouge }: (typeof pairs)[number]) => rouge.f === null;
const isBlank = ({ output, gold }: (typeof pairs)[number]) => `${output}${gold}`.trim() === "";

const pltrdy = rougeL.prepare(rougeL.config.parse({ variant: "pltrdy" }));
const sacrebleu = bleu.prepare(bleu.config.parse({}));

test("the fixture has 785 pairs, and few of them are equal", () => {
  expect(pairs).toHaveLength(785);
  expect(pairs.filter(({ output, gold }) => output === gold).length).toBeLessThan(50);
});

test("`pltrdy` has exactly the figures of the Python package `rouge`", () => {
  for (const pair of pairs.filter((one) => !isRefused(one))) {
    const { score, extra } = pltrdy({ output: pair.output, goldAnswer: pair.gold });
    const rouge: unknown = { precision: extra?.precision, recall: extra?.recall, f: score };
    expect({ ...pair, rouge }).toEqual(pair);
  }
});

test("texts of full stops alone, which the package refuses, have 0", () => {
  const refused = pairs.filter(isRefused);
  expect(refused.length).toBeGreaterThan(4);
  for (const { output, gold } of refused) {
    expect(pltrdy({ output, goldAnswer: gold }).score).toBe(0);
  }
});

test("`bleu` has the figures of sacrebleu, but for two blank texts, which have 0 there", () => {
  for (const { bleuScore, ...pair } of pairs.filter((one) => !isBlank(one))) {
    const { score } = sacrebleu({ output: pair.output, goldAnswer: pair.gold });
    expect({ ...pair, score }).toEqual({ ...pair, score: expect.closeTo(bleuScore, 10) });
  }
});

test.each([rougeL, tokenF1, bleu])(
  "$name scores a tagged text as the text inside its tags, if the profile says so",
  (family) => {
    const asGiven = family.prepare(family.config.parse({}));
    const stripped = family.prepare(family.config.parse({ strip_tags: true }));
    for (const { output, gold } of pairs.filter((pair) => /\p{L}/u.test(pair.gold))) {
      const verdict = stripped({
        output: `<think>It is so.</think>\n<tool_response>${output}</tool_response>\nI hope this helps.`,
        goldAnswer: `<tool_response>${gold}</tool_response>`,
      });
      expect(verdict.score).toBe(asGiven({ output: output.trim(), goldAnswer: gold.trim() }).score);
    }
    const tagged = { output: "<think>a</think>b", goldAnswer: "b" };
    expect([asGiven(tagged).score !== 1, stripped(tagged).score]).toEqual([true, 1]);
  },
);
