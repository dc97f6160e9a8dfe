import { expect, test } from "bun:test";
import type { RunSample } from "@presage/sdk";
import { firstDivergence, markOf, outlineOf } from "./trajectory-outline.ts";

const evaluator = { evaluator: "e", profile_name: "p", profile_id: "i", profile_revision: 1 };

function sample(step: number, pass: boolean | null | undefined, repeat = 0): RunSample {
  return {
    dataset_sample_id: `t/${step}`,
    trajectory_id: "t",
    step,
    repeat,
    changes: null,
    verb: null,
    confidence: null,
    prediction: {
      id: `${step}`,
      status: pass === undefined ? "failed" : "success",
      error_category: null,
      finish_reason: null,
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      latency_ms: null,
    },
    verdicts:
      pass === undefined
        ? []
        : [
            {
              evaluator: "e",
              profile_name: "p",
              status: pass === null ? "failed" : "success",
              pass,
              score: null,
              evaluation_result_id: null,
            },
          ],
  };
}

test("the first divergence is the first step that does not pass", () => {
  const outline = outlineOf([sample(7, false), sample(2, true), sample(4, false), sample(0, false, 1)], 0);
  expect(outline.steps).toEqual([2, 4, 7]);
  expect(firstDivergence(outline, evaluator)).toEqual({ kind: "diverged", step: 4 });
  expect(outline.stepBefore(4)).toBe(2);
  expect(outline.stepBefore(2)).toBeUndefined();
});

test("without a verdict nobody knows what follows", () => {
  const outline = outlineOf([sample(0, true), sample(1, null), sample(2, false)], 0);
  expect(firstDivergence(outline, evaluator)).toEqual({ kind: "unknown", step: 1 });
  expect(firstDivergence(outlineOf([sample(0, undefined)], 0), evaluator)).toEqual({
    kind: "unknown",
    step: 0,
  });
  expect(firstDivergence(outlineOf([sample(0, true)], 0), evaluator)).toEqual({ kind: "agrees", steps: 1 });
});

test("marks say what is known, and set the first divergence apart", () => {
  const divergence = { kind: "diverged", step: 1 } as const;
  expect(markOf(sample(1, false), evaluator, divergence)).toMatchObject({ tone: "fail", isFlagged: true });
  expect(markOf(sample(2, false), evaluator, divergence)).toMatchObject({ tone: "fail", isFlagged: false });
  expect(markOf(sample(0, true), evaluator, divergence).tone).toBe("pass");
  expect(markOf(sample(3, undefined), evaluator, divergence).label).toBe("the prediction failed");
  expect(markOf(sample(3, null), evaluator, divergence).label).toBe("no verdict");
  expect(markOf(undefined, evaluator, divergence).tone).toBe("none");
});
