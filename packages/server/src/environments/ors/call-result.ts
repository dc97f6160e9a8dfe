import { type OrsCallResult, orsText } from "@presage/contract";
import { toStep } from "../episodes/episode-response.ts";
import type { CallOutcome } from "./call-outcome.ts";
import type { CallError } from "./take-call.ts";

/** What became of a call, in the words of the Open Reward Standard. */
export function toCallResult(outcome: CallOutcome): OrsCallResult {
  if (outcome.kind === "refused") return { ok: false, error: outcome.message };
  if (outcome.kind === "step") {
    const { observation, reward, terminated, truncated, info } = toStep(outcome.result);
    const { episode_id } = outcome.result.step;
    const metadata = { episode_id, terminated, truncated, ...info };
    const finished = terminated || truncated;
    return { ok: true, output: { blocks: [orsText(observation)], metadata, reward, finished } };
  }
  const { id, outcome: end, stop_reason, error } = outcome.episode;
  const metadata = {
    episode_id: id,
    terminated: false,
    truncated: true,
    outcome: end,
    stop_reason,
    error: JSON.parse(error ?? "null") as CallError | null,
  };
  // Nothing was observed, so there is nothing to show.
  return { ok: true, output: { blocks: [], metadata, reward: null, finished: true } };
}
