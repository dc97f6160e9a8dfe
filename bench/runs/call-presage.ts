import type { RunningPresage } from "../evaluations/start-presage.ts";

export interface StartedRun {
  readonly id: string;
  readonly status: string;
  readonly progress: { readonly samples: number; readonly evaluated: number };
}

const lookEveryMs = 100;

/** The response of a call that has to succeed. */
export const call = async (
  { origin, headers }: Pick<RunningPresage, "origin" | "headers">,
  method: "GET" | "POST",
  path: string,
  body?: string | ReadableStream | Blob,
): Promise<Response> => {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    // Uploads of gigabytes take longer than the default.
    signal: AbortSignal.timeout(3_600_000),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
};

export const createDataset = async (presage: RunningPresage, name: string): Promise<string> => {
  const response = await call(presage, "POST", "/v1/datasets", JSON.stringify({ name }));
  return ((await response.json()) as { id: string }).id;
};

export const createRun = async (
  presage: RunningPresage,
  body: Readonly<Record<string, unknown>>,
): Promise<StartedRun> =>
  (await (await call(presage, "POST", "/v1/runs", JSON.stringify(body))).json()) as StartedRun;

/** Waits until a run is finished. */
export const finishRun = async (presage: RunningPresage, id: string): Promise<StartedRun> => {
  for (;;) {
    const run = (await (await call(presage, "GET", `/v1/runs/${id}`)).json()) as StartedRun;
    if (run.status === "finished") return run;
    if (run.status === "failed" || run.status === "cancelled") throw new Error(`run ${id} is ${run.status}`);
    await Bun.sleep(lookEveryMs);
  }
};
