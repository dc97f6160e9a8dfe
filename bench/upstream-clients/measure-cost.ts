import type { Client } from "./clients.ts";

const concurrency = 32;
/** A prediction's prompt. */
const body = JSON.stringify({ model: "mock", messages: [{ role: "user", content: "x".repeat(1_900) }] });

/** Microseconds of this process's processor time for each call, against an upstream that answers at once. */
export const measureCost = async ({ ask }: Client, url: string, calls: number): Promise<number> => {
  const before = process.cpuUsage();
  let left = calls;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask(url, body);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};
