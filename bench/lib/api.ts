import type { RunningPresage } from "./targets.ts";

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

const stepsOfTrajectory = 20;
const chunkCharacters = 500_000;
const filler = "The shelf holds a jar, a cup and a lamp. ";
const verbs = ["open", "close", "take", "look at", "go to"];

const roomWith = (thing: number): string =>
  `You are in the kitchen.\nOn the table is thing ${thing % 97}.\nThe fridge door is ${thing % 3 === 0 ? "open" : "closed"}.`;

/** The line of a sample of this many bytes, if it is no longer by itself. Every fourth step changes nothing. */
export const sampleLine = (index: number, bytes: number): string => {
  const step = index % stepsOfTrajectory;
  const thing = Math.floor(index / 4) * 4;
  const sample = {
    trajectory_id: `t${Math.floor(index / stepsOfTrajectory)}`,
    step,
    interaction: {
      state: roomWith(thing),
      action: `${verbs[index % verbs.length]} thing ${index % 97}`,
    },
    next_state: roomWith(index),
  };
  const line = JSON.stringify(sample);
  // The line feed in the state is written as two characters.
  const missing = bytes - line.length - 1 - 2;
  if (missing <= 0) return `${line}\n`;
  const text = filler.repeat(Math.ceil(missing / filler.length)).slice(0, missing);
  return `${JSON.stringify({ ...sample, next_state: `${sample.next_state}\n${text}` })}\n`;
};

/** The line of the sample's prediction: right for two of three. */
export const predictionLine = (index: number): string =>
  `${JSON.stringify({ index, prediction: index % 3 === 2 ? roomWith(index + 1) : roomWith(index) })}\n`;

/** Lines as they are asked for, so that the bench does not hold them. */
export const streamLines = (count: number, lineOf: (index: number) => string): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      let text = "";
      for (; next < count && text.length < chunkCharacters; next += 1) text += lineOf(next);
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (next >= count) controller.close();
    },
  });
};
