import { expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ClientDisconnectedError, UpstreamError } from "../../platform/errors.ts";
import { orAborted } from "../../platform/limits/deadline.ts";
import { orLate, untilDeadline } from "./openenv-socket.ts";

test("at the deadline the work is aborted, with an error that says so", async () => {
  const { signal } = new AbortController();
  const never = untilDeadline(signal, (aborted) => orAborted(new Promise<string>(() => {}), aborted), 20);
  const error: unknown = await never.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UpstreamError);
  expect(error).toMatchObject({ category: "timeout", message: expect.stringContaining("0.02 s") });
});

test("a call that takes the deadline for its client's disconnect is not believed", async () => {
  const client = new AbortController();
  const call = (aborted: AbortSignal) =>
    orAborted(new Promise<string>(() => {}), aborted).catch(() => {
      throw new ClientDisconnectedError();
    });
  expect(await untilDeadline(client.signal, call, 20).catch(String)).toContain("There was no answer within");
  const gone = untilDeadline(client.signal, call).catch((error: unknown) => error);
  client.abort(new ClientDisconnectedError());
  expect(await gone).toBeInstanceOf(ClientDisconnectedError);
});

test("work that is stored just then is answered, not failed", async () => {
  const { signal } = new AbortController();
  const stored = untilDeadline(signal, () => sleep(60, "stored"), 20);
  expect(await orLate(stored, "late", 5_000)).toBe("stored");
});

test("later than a client waits there is no answer any more", async () => {
  expect(await orLate(new Promise<string>(() => {}), "late", 20)).toBe("late");
});
