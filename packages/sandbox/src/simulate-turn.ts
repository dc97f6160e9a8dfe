import { act } from "./act.ts";
import { readScene } from "./scene.ts";
import { readToolCalls, respondToToolCalls } from "./tool-calls.ts";

/**
 * The observation of a rule-based text world after the action of a user turn. Nothing is kept between turns: the system
 * turn contains the map (`world/`), the state describes what has happened since (`read-events`, `scene`), and the
 * action is performed on the resulting scene (`act`, `verbs/`). Tool calls are handled separately.
 */
export function simulateTurn(systemPrompt: string, userTurn: string): string {
  const { environment, task, tools, knowledge, state, action } = readPrompt(systemPrompt, userTurn);
  const calls = readToolCalls(action);
  if (calls !== undefined) return respondToToolCalls(calls, tools);
  return act(readScene(environment, task, state), action, knowledge);
}

/** The parts of a request's prompt, the reverse of `composePrompt`. */
export interface Prompt {
  environment: string;
  task: string;
  tools: string;
  knowledge: string;
  state: string;
  action: string;
}

const sectionHeaderPattern =
  /(?:^|\n\n)## (ENVIRONMENT STATE|TASK CONTEXT|TOOL SCHEMAS|DOMAIN KNOWLEDGE|STEERING DIRECTIVES)\n/g;
const stateLabel = "State: ";
const actionLabel = "\n\nAction: ";

export function readPrompt(systemPrompt: string, userTurn: string): Prompt {
  const sections = readSections(systemPrompt);
  return {
    environment: sections.get("ENVIRONMENT STATE") ?? "",
    task: sections.get("TASK CONTEXT") ?? "",
    tools: sections.get("TOOL SCHEMAS") ?? "",
    knowledge: sections.get("DOMAIN KNOWLEDGE") ?? "",
    ...readTurn(userTurn),
  };
}

function readSections(systemPrompt: string): Map<string, string> {
  const headers = [...systemPrompt.matchAll(sectionHeaderPattern)];
  return new Map(
    headers.map((header, index) => {
      const end = headers[index + 1]?.index ?? systemPrompt.length;
      return [header[1] ?? "", systemPrompt.slice(header.index + header[0].length, end)];
    }),
  );
}

/** The state may quote actions, so only the last label counts. */
export function readTurn(userTurn: string): { state: string; action: string } {
  const split = userTurn.lastIndexOf(actionLabel);
  if (split < 0) return { state: "", action: userTurn.replace(/^Action: /, "").trim() };
  const state = userTurn.slice(0, split);
  return {
    state: state.startsWith(stateLabel) ? state.slice(stateLabel.length) : state,
    action: userTurn.slice(split + actionLabel.length).trim(),
  };
}
