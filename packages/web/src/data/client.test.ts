import { expect, mock, test } from "bun:test";
import type { ListedRun, Presage } from "@presage/sdk";
import { PresageError } from "@presage/sdk";
import { findQueryError, refreshWhile } from "./client.ts";
import { runsQuery } from "./runs.ts";

const fine = { error: null, isError: false, refetch: mock() };

test("retry refetches the failed queries only", () => {
  const failed = ["first", "second"].map((error) => ({ error, isError: true, refetch: mock() }));
  const failure = findQueryError([fine, ...failed]);
  expect(failure?.error).toBe("first");
  failure?.retry();
  for (const { refetch } of failed) expect(refetch).toHaveBeenCalledTimes(1);
  expect(fine.refetch).not.toHaveBeenCalled();
});

test("what is read again while it changes is also read again while the server cannot be reached", () => {
  const interval = refreshWhile((data: number | undefined) => (data === 1 ? 7 : false));
  const error = new PresageError("Gone", { category: "connection" });
  expect(interval({ state: { data: 1, error: null } })).toBe(7);
  expect(interval({ state: { data: 2, error: null } })).toBe(false);
  expect(interval({ state: { data: undefined, error } })).toBe(5_000);
});

test("a list of runs waits for a headline a minute", () => {
  const after = (ms: number) => {
    const finished_at = new Date(Date.now() - ms).toISOString();
    const run = { status: "finished", headline: null, dataset_id: "d", finished_at } as ListedRun;
    return runsQuery({} as Presage).refetchInterval({ state: { data: [run], error: null } });
  };
  expect([after(1_000), after(3_600_000)]).toEqual([3_000, false]);
});

test("without a failed query there is no error", () => {
  expect(findQueryError([fine, fine])).toBeUndefined();
});
