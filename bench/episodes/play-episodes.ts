import type { RunningPresage } from "../evaluations/start-presage.ts";
import { call } from "../runs/call-presage.ts";

const environment = "bench";
const state = "You are in a small room. There is a wooden door, which is closed, and a lamp on the table.";
const action = "open the wooden door";

/** An environment without rules, so that a step is a prediction and its storing. */
export const createEnvironment = async (presage: RunningPresage): Promise<void> => {
  const body = { name: environment, max_steps: 1_000, params: { temperature: 0 } };
  await call(presage, "POST", "/v1/environments", JSON.stringify(body));
  const task = JSON.stringify({ split: "train", initial_state: state });
  await call(presage, "POST", `/v1/environments/${environment}/tasks`, `${task}\n`);
};

export const openEpisode = async (presage: RunningPresage): Promise<string> => {
  const body = JSON.stringify({ environment, split: "train", index: 0 });
  const response = await call(presage, "POST", "/v1/episodes", body);
  return ((await response.json()) as { episode_id: string }).episode_id;
};

export const takeStep = async (presage: RunningPresage, episodeId: string): Promise<void> => {
  const response = await call(presage, "POST", `/v1/episodes/${episodeId}/step`, JSON.stringify({ action }));
  await response.arrayBuffer();
};

/** What a step asks, as a prediction. */
export const askPrediction = async (presage: RunningPresage): Promise<void> => {
  const body = JSON.stringify({ interaction: { state, action }, params: { temperature: 0 } });
  await (await call(presage, "POST", "/v1/predict", body)).arrayBuffer();
};
