import { expect, test } from "bun:test";
import { toMatrixRequest } from "./matrix-request.ts";

const evaluators = ["a", "b"].map((evaluator) => ({
  evaluator,
  profile_name: `of ${evaluator}`,
  profile_id: "i",
  profile_revision: 1,
}));

test("an empty address asks for everything in the dataset's order", () => {
  expect(toMatrixRequest({}, undefined, evaluators)).toEqual({});
  expect(toMatrixRequest({ sample: "s", repeat: 1 }, undefined, evaluators)).toEqual({});
});

test("a verdict is of the chosen evaluator, otherwise of the first", () => {
  expect(toMatrixRequest({ verdict: "fail" }, undefined, evaluators)).toEqual({
    evaluator: "a",
    profile_name: "of a",
    pass: false,
  });
  expect(toMatrixRequest({ verdict: "pass", judge: 1 }, undefined, evaluators).evaluator).toBe("b");
  // The run that a link leads to may have fewer evaluators.
  expect(toMatrixRequest({ verdict: "pass", judge: 7 }, undefined, evaluators)).toEqual({});
  expect(toMatrixRequest({ judge: 1 }, undefined, evaluators)).toEqual({});
});

test("a column of an evaluator is sorted by its score, others by their figure", () => {
  expect(toMatrixRequest({}, { id: "e1", isDescending: true }, evaluators)).toEqual({
    order: "-score",
    order_evaluator: "b",
    order_profile_name: "of b",
  });
  expect(toMatrixRequest({}, { id: "tokens", isDescending: false }, evaluators)).toEqual({
    order: "completion_tokens",
  });
  expect(toMatrixRequest({}, { id: "e9", isDescending: false }, evaluators)).toEqual({});
});

test("the other filters are the server's", () => {
  const search = { failed: true, recorded: "unchanged", trajectory: "t", at: 0 } as const;
  expect(toMatrixRequest(search, undefined, evaluators)).toEqual({
    status: "failed",
    changed: false,
    trajectory_id: "t",
    step: 0,
  });
});
