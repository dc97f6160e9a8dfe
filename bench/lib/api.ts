import type { RunningPresage } from "./targets.ts";

type Server = Pick<RunningPresage, "origin" | "headers">;
type Body = string | ReadableStream | Blob;

/** The response to a call that has to succeed. */
export const call = async (
  { origin, headers }: Server,
  method: "GET" | "POST" | "PUT",
  path: string,
  body?: Body,
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

export const read = async <Answer>(server: Server, path: string): Promise<Answer> =>
  (await (await call(server, "GET", path)).json()) as Answer;

export const post = async <Answer>(server: Server, path: string, body: object): Promise<Answer> =>
  (await (await call(server, "POST", path, JSON.stringify(body))).json()) as Answer;

export const createDataset = async (presage: Server, name: string): Promise<string> =>
  (await post<{ id: string }>(presage, "/v1/datasets", { name })).id;

/** Makes a dataset with this number of samples. Returns its id. */
export const uploadSamples = async (
  presage: Server,
  name: string,
  samples: number,
  lineOf: (index: number) => string,
): Promise<string> => {
  const id = await createDataset(presage, name);
  await call(presage, "POST", `/v1/datasets/${id}/revisions`, streamLines(samples, lineOf));
  return id;
};

/** Creates a run and returns its id. */
export const createRun = async (presage: Server, body: object): Promise<string> =>
  (await post<{ id: string }>(presage, "/v1/runs", body)).id;

/** Uploads predictions made elsewhere, which the run waits for. */
export const uploadPredictions = async (presage: Server, runId: string, body: Body): Promise<void> => {
  await call(presage, "POST", `/v1/runs/${runId}/predictions`, body);
};

const lookEveryMs = 100;

/** Waits until a run is finished. */
export const finishRun = async (presage: Server, id: string): Promise<void> => {
  for (;;) {
    const { status } = await read<{ status: string }>(presage, `/v1/runs/${id}`);
    if (status === "finished") return;
    if (status === "failed" || status === "cancelled") throw new Error(`run ${id} is ${status}`);
    await Bun.sleep(lookEveryMs);
  }
};

const stepsOfTrajectory = 20;
const chunkCharacters = 500_000;
const filler = "The shelf holds a jar, a cup and a lamp. ";
const verbs = ["open", "close", "take", "look at", "go to"];

const roomWith = (thing: number): string =>
  `You are in the kitchen.\nOn the table is thing ${thing % 97}.\nThe fridge door is ${thing % 3 === 0 ? "open" : "closed"}.`;

/** The line of a sample, padded to this many bytes. Every fourth step changes nothing. */
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

/** The line of the sample's prediction: right for two samples in three. */
export const predictionLine = (index: number): string =>
  `${JSON.stringify({ index, prediction: index % 3 === 2 ? roomWith(index + 1) : roomWith(index) })}\n`;

/** Lines generated on demand, so that the bench does not hold them in memory. */
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
