import type { TestPresage } from "./presage.ts";

/** The value of a metric from `GET /metrics`. */
export async function readMetric(presage: Pick<TestPresage, "call">, name: string): Promise<number> {
  const text = await (await presage.call("GET", "/metrics")).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}
