import { act } from "./act.ts";
import { readPrompt } from "./read-prompt.ts";
import { readScene } from "./read-scene.ts";
import { readToolCalls, respondToToolCalls } from "./tool-calls.ts";

/**
 * The observation of a rule-based text world after the action of a user turn. Nothing is kept between turns: the system
 * turn contains the map (`world/`), the state describes what has happened since (`read-events`, `apply-event`), and the
 * action is performed on the resulting scene (`act`, `refer`, `verbs/`). Tool calls are handled separately.
 */
export function simulateTurn(systemPrompt: string, userTurn: string): string {
  const { environment, task, tools, knowledge, state, action } = readPrompt(systemPrompt, userTurn);
  const calls = readToolCalls(action);
  if (calls !== undefined) return respondToToolCalls(calls, tools);
  return act(readScene(environment, task, state), action, knowledge);
}
