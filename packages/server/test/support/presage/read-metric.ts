import type { TestPresage } from "./presage.ts";

/** The value of a metric without labels, as `GET /metrics` tells it. */
export async function readMetric(presage: Pick<TestPresage, "call">, name: string): Promise<number> {
  const text = await (await presage.call("GET", "/metrics")).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}
