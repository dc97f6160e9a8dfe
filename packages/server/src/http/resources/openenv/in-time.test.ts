import { expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import { UpstreamError } from "../../../errors.ts";
import { orAborted } from "../../../limits/deadline.ts";
import { orLate, untilDeadline } from "./in-time.ts";

test("at the deadline the work is aborted, with an error that says so", async () => {
  const { signal } = new AbortController();
  const never = untilDeadline(signal, (aborted) => orAborted(new Promise<string>(() => {}), aborted), 20);
  const error: unknown = await never.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UpstreamError);
  expect(error).toMatchObject({ category: "timeout", message: expect.stringContaining("0.02 s") });
});

test("work that is stored just then is answered, not failed", async () => {
  const { signal } = new AbortController();
  const stored = untilDeadline(signal, () => sleep(60, "stored"), 20);
  expect(await orLate(stored, "late", 5_000)).toBe("stored");
});

test("later than a client waits there is no answer any more", async () => {
  expect(await orLate(new Promise<string>(() => {}), "late", 20)).toBe("late");
});
