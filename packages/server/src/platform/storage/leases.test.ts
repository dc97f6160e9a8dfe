import { expect, test } from "bun:test";
import { startLooking } from "./leases.ts";

test("What is asked for during a look has one of its own, and a stop ends both without a failure", async () => {
  const begun: (() => void)[] = [];
  const failures: unknown[] = [];
  const looker = startLooking({
    async look(signal) {
      await new Promise<void>((resolve) => {
        begun.push(resolve);
        signal.addEventListener("abort", () => resolve());
      });
      signal.throwIfAborted();
      if (begun.length === 1) throw new Error("busy");
    },
    onFailure: (error) => failures.push(error),
  });
  await Bun.sleep(1);
  expect(begun).toHaveLength(0);
  looker.schedule();
  await Bun.sleep(1);
  looker.schedule();
  looker.schedule();
  await Bun.sleep(1);
  expect(begun).toHaveLength(1);
  begun[0]?.();
  await Bun.sleep(1);
  expect([begun.length, failures]).toEqual([2, [new Error("busy")]]);
  await looker.stop();
  looker.schedule();
  await Bun.sleep(1);
  expect([begun.length, failures.length]).toEqual([2, 1]);
});
