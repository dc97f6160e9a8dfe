import { median } from "../../median.ts";

/** The same request to a database of one size. */
export interface SizedRequest {
  readonly size: number;
  readonly url: string;
  readonly options: RequestInit;
}

export interface Measurement {
  readonly size: number;
  readonly medianMs: number;
  readonly body: unknown;
}

/** A request that takes seconds is repeated less often. */
const enoughMs = 6_000;

export const send = async ({ url, options }: SizedRequest): Promise<unknown> => {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${response.status}: ${(await response.text()).slice(0, 300)}`);
  return await response.json();
};

/** The sizes take turns, so that a slowdown of the machine affects all of them; each turn begins with a different size. */
export const measureRequests = async (
  requests: readonly SizedRequest[],
  repeats: number,
): Promise<Measurement[]> => {
  const measured = [];
  for (const request of requests) {
    measured.push({ request, body: await send(request), timesMs: [] as number[], spentMs: 0 });
  }
  for (let warmUp = 0; warmUp < 3; warmUp += 1) {
    for (const one of measured) if (one.spentMs < enoughMs / 10) one.spentMs += await time(one.request);
  }
  for (const one of measured) one.spentMs = 0;
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    const first = repeat % measured.length;
    for (const one of [...measured.slice(first), ...measured.slice(0, first)]) {
      if (one.spentMs > enoughMs) continue;
      const timeMs = await time(one.request);
      one.timesMs.push(timeMs);
      one.spentMs += timeMs;
    }
  }
  return measured.map(({ request, body, timesMs }) => ({
    size: request.size,
    medianMs: median(timesMs),
    body,
  }));
};

const time = async (request: SizedRequest): Promise<number> => {
  const startedAtMs = performance.now();
  await send(request);
  return performance.now() - startedAtMs;
};
