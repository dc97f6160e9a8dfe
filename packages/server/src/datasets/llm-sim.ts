import { z } from "zod";
import type { ReadSample } from "./reader.ts";
import { checkLine } from "./upload/line-error.ts";

const State = z.looseObject({ score: z.number().optional(), gameOver: z.boolean().optional() });
const Transition = z.looseObject({
  game: z.string(),
  state_id: z.int().min(0),
  current_state: z.looseObject({ taskDesc: z.string().optional() }),
  tick_state: State.extend({ lastAction: z.string().min(1) }),
  current_score_state: State.nullish(),
  next_score_state: State.nullish(),
});

/**
 * A transition of LLM-Sim (Wang et al. 2024): the states before the action and after the environment's tick, as JSON. Its `state_id`
 * counts the transitions of a game, which all start on the path of one playthrough, so a game is one trajectory.
 */
export function* readLlmSimTransition(value: unknown): Generator<ReadSample, void> {
  const { game, state_id, current_state, current_score_state, tick_state, next_score_state } = checkLine(
    Transition,
    value,
  );
  const { score, gameOver } = next_score_state ?? tick_state;
  yield {
    trajectory_id: game,
    step: state_id,
    context: { task_context: current_state.taskDesc },
    interaction: { state: withScore(current_state, current_score_state), action: tick_state.lastAction },
    next_state: withScore(tick_state, next_score_state),
    reward: score,
    done: gameOver,
  };
}

/** As the paper does, which has the score in the states that are predicted. */
function withScore(state: object, score: object | null | undefined): string {
  return JSON.stringify(score ? { ...state, score_state: score } : state);
}
