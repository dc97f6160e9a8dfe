import type { Client } from "./clients.ts";

const usualConcurrency = 32;
/** As large as a prediction. */
const body = JSON.stringify({ model: "mock", messages: [{ role: "user", content: "x".repeat(1_900) }] });

/** This process's processor time per call in microseconds, with an upstream that responds at once. */
export const measureCost = async (
  { send }: Client,
  url: string,
  calls: number,
  concurrency = usualConcurrency,
): Promise<number> => {
  const before = process.cpuUsage();
  let left = calls;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await send(url, body);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};
