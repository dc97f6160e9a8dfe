import { expect, mock, test } from "bun:test";
import { findQueryError } from "./find-query-error.ts";

const fine = { error: null, isError: false, refetch: mock() };

test("one press asks again for everything that failed, and for nothing else", () => {
  const failed = ["first", "second"].map((error) => ({ error, isError: true, refetch: mock() }));
  const failure = findQueryError([fine, ...failed]);
  expect(failure?.error).toBe("first");
  failure?.retry();
  for (const { refetch } of failed) expect(refetch).toHaveBeenCalledTimes(1);
  expect(fine.refetch).not.toHaveBeenCalled();
});

test("where nothing failed there is nothing to say", () => {
  expect(findQueryError([fine, fine])).toBeUndefined();
});
