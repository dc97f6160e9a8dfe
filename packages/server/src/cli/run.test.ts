import { afterEach, expect, setSystemTime, spyOn, test } from "bun:test";
import type { Run } from "@presage/contract";
import { InterruptedError } from "./command.ts";
import type { RunConnection } from "./open-connection.ts";
import { followRun } from "./run.ts";

const progress = { samples: 10, predicted: 0, failed_predictions: 0, evaluated: 0 };
const paused = {
  id: "run-1",
  status: "paused",
  status_reason: "The upstream cannot be reached.",
  progress,
  notes: [],
};

/** A connection to a run that passes through these states, each some minutes after the previous one. */
function seen(...states: { status?: string; minutes: number }[]) {
  const runs = {
    async waitUntilEnded(_id: string, { onProgress }: { onProgress(run: Run): void }) {
      let nowMs = Date.parse("2026-01-01");
      for (const { minutes, status = "paused" } of states) {
        nowMs += minutes * 60_000;
        setSystemTime(nowMs);
        onProgress({ ...paused, status } as unknown as Run);
      }
      return { ...paused, status: "finished" };
    },
  };
  return {
    call: (use: (client: object) => unknown) => use({ runs }),
    waiting: {},
  } as unknown as RunConnection;
}

afterEach(() => {
  setSystemTime();
});

test("a deployment that stays away for ten minutes ends the command, with the reason and how to go on", async () => {
  // Keeps the progress out of the test's output.
  using _ = spyOn(process.stderr, "write").mockImplementation(() => true);
  const away = followRun(
    seen({ minutes: 0 }, { minutes: 9 }, { minutes: 1 }),
    paused as unknown as Run,
    undefined,
  );
  expect(String(await away.catch((error) => error))).toMatch(
    /for 10 minutes: The upstream cannot be reached\.\nTo follow it again:\n {2}npx presage run --resume run-1$/,
  );
  const back = seen({ minutes: 0 }, { minutes: 9, status: "running" }, { minutes: 1 }, { minutes: 9 });
  expect(await followRun(back, paused as unknown as Run, undefined)).toMatchObject({ status: "finished" });
});

test("the two signals of one Ctrl-C let the run be paused, and a run that has ended listens to none", async () => {
  using _ = spyOn(process.stderr, "write").mockImplementation(() => true);
  using exit = spyOn(process, "exit").mockImplementation(() => undefined as never);
  const others = process.listeners("SIGINT");
  const listeners = () => process.listeners("SIGINT").filter((listener) => !others.includes(listener));
  await followRun(seen({ minutes: 0 }), paused as unknown as Run, undefined);
  expect(listeners()).toEqual([]);
  const pausing = Promise.withResolvers<void>();
  const runs = { waitUntilEnded: () => new Promise(() => {}), pause: () => pausing.promise };
  const connection = { call: (use: (client: object) => unknown) => use({ runs }), waiting: {} };
  const following = followRun(connection as unknown as RunConnection, paused as unknown as Run, undefined);
  // From the terminal, and again from `npm start`.
  for (const listener of [...listeners(), ...listeners()]) {
    listener("SIGINT");
    await Bun.sleep(0);
  }
  expect(exit).not.toHaveBeenCalled();
  pausing.resolve();
  expect(await following.catch((error) => error)).toBeInstanceOf(InterruptedError);
  for (const listener of listeners()) process.off("SIGINT", listener).off("SIGTERM", listener);
});
