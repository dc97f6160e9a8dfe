import { expect, test } from "bun:test";
import fc from "fast-check";
import { readPrediction } from "../../src/predictions/predict.ts";
import { readCompletion } from "../../src/upstream/cache.ts";
import { readTokenCounts } from "../../src/upstream/completion.ts";
import type { CompletionBody } from "../../src/upstream/upstream.ts";

const text = fc.string({
  unit: fc.constantFrom("a", "\u00e9", "\u9580", "\ud83c", "\n", "<think>", "</think>"),
});
const field = fc.option(fc.oneof(text, fc.jsonValue()), { nil: undefined });
const parts = fc.array(fc.oneof(fc.record({ text: field }), fc.constant(null)));
const completions: fc.Arbitrary<CompletionBody> = fc
  .record({
    model: field,
    usage: fc.oneof(fc.record({ prompt_tokens: field, completion_tokens: fc.nat() }), field),
    choice: fc.record({
      message: fc.record({ content: fc.oneof(field, parts), reasoning: field, reasoning_content: field }),
      finish_reason: field,
      matched_stop: field,
      stop_reason: field,
    }),
  })
  .map(({ choice, ...body }) => ({ ...body, choices: [choice] }));

test("a prediction from what was read of a completion is the prediction from the completion", () => {
  fc.assert(
    fc.property(completions, (completion) => {
      const reading = readCompletion(completion);
      expect(readPrediction(reading)).toEqual(readPrediction(completion));
      expect(readTokenCounts(reading.usage)).toEqual(readTokenCounts(completion.usage));
    }),
  );
});
