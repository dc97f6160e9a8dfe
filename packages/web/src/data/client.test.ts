import { expect, mock, test } from "bun:test";
import { findQueryError } from "./client.ts";

const fine = { error: null, isError: false, refetch: mock() };

test("retry refetches the failed queries only", () => {
  const failed = ["first", "second"].map((error) => ({ error, isError: true, refetch: mock() }));
  const failure = findQueryError([fine, ...failed]);
  expect(failure?.error).toBe("first");
  failure?.retry();
  for (const { refetch } of failed) expect(refetch).toHaveBeenCalledTimes(1);
  expect(fine.refetch).not.toHaveBeenCalled();
});

test("without a failed query there is no error", () => {
  expect(findQueryError([fine, fine])).toBeUndefined();
});
