import { act } from "./act.ts";
import { readPrompt } from "./read-prompt.ts";
import { readScene } from "./read-scene.ts";
import { answerToolCalls, readToolCalls } from "./tool-calls.ts";

/**
 * The observation that a rule-based text world gives to the action of a user turn. Nothing is kept between turns: the
 * system turn holds the map (`world/`), the state tells what has happened since (`read-events`, `apply-event`), and on
 * the scene that results the action is performed (`act`, `refer`, `verbs/`). Calls of tools are answered apart.
 */
export function simulateTurn(systemPrompt: string, userTurn: string): string {
  const { environment, task, tools, knowledge, state, action } = readPrompt(systemPrompt, userTurn);
  const calls = readToolCalls(action);
  if (calls !== undefined) return answerToolCalls(calls, tools);
  return act(readScene(environment, task, state), action, knowledge);
}
