import { createReplicas, routingKeyOf } from "../../packages/server/src/upstream/replicas.ts";
import type { CompleteResponse } from "../../packages/server/src/upstream/send.ts";
import { expectedMessages } from "../payload.ts";

export interface ChoosingPlan {
  readonly rounds: number;
  readonly replicas: number;
  readonly inFlight: number;
  readonly calls: number;
}

export interface ChoosingSample {
  /** Processor time of a call beyond that of a call to the only replica. */
  readonly cpuUsPerCall: number;
}

const messages = JSON.parse(expectedMessages) as { role: string; content: string }[];
const response: CompleteResponse = { status: 200, bytes: new Uint8Array(), text: () => "", url: "" };
const { signal } = new AbortController();

/** Calls that are answered at once, by as many sessions as are in flight; the key is the prompt's, or the session's for every other. */
const openFleet = (replicas: number, { calls, inFlight }: ChoosingPlan) => {
  const urls = Array.from({ length: replicas }, (_, place) => `http://replica-${place}:8000/v1`);
  const options = { name: "default", urls, apiKey: undefined, model: "mock", timeoutMs: 60_000, retries: 2 };
  const fleet = createReplicas(options, () => async () => response);
  const sessions = Array.from({ length: inFlight }, (_, place) =>
    place % 2 === 0 ? undefined : { name: "x-session-id", value: `rollout-${place}` },
  );
  const call = (session: (typeof sessions)[number]): Promise<CompleteResponse> => {
    const key = fleet.needKeys ? routingKeyOf({ messages }, session) : 0;
    return fleet.send({ method: "POST", path: "/chat/completions", signal, session, key });
  };
  return async (): Promise<number> => {
    const before = process.cpuUsage();
    for (let done = 0; done < calls; done += inFlight) await Promise.all(sessions.map(call));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  };
};

/** What it costs to choose among replicas and to keep account of them, in this process and without any connection. */
export const measureChoosing = async (plan: ChoosingPlan): Promise<ChoosingSample[]> => {
  const [one, many] = [openFleet(1, plan), openFleet(plan.replicas, plan)];
  await one();
  await many();
  const samples: ChoosingSample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    const ofOne = await one();
    samples.push({ cpuUsPerCall: (await many()) - ofOne });
  }
  return samples;
};
