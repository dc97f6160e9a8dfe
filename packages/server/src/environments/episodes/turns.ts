import type { EnvironmentConfig, EpisodeOutcome, EpisodeStop, PromptMessage } from "@presage/contract";
import { composePrompt, composeSystemTurn, composeUserTurn } from "@presage/contract/compose-prompt";
import { toStorableText } from "../../platform/storage/columns.ts";
import { countOf } from "../../platform/words.ts";
import type { Asked } from "../../worlds/world.ts";
import { environmentDefaults, recordedOf, type Task } from "../environment.ts";

export interface Turn {
  action: string;
  observation: string;
}

/** The question for the world that plays the episode: the steps so far, or the conversation. */
export function askedOfWorld(
  config: EnvironmentConfig,
  task: Task,
  turns: readonly Turn[],
  action: string,
): Asked {
  const { context, initial_state: first } = task;
  const state = turns.at(-1)?.observation ?? first;
  const same = { context, interaction: { state, action }, recorded: recordedOf(task) };
  if (promptFormOf(config) === "chat")
    return {
      ...same,
      conversation: { state: first, turns: conversationOf(first, turns, action) },
    };
  return { ...same, history: turns.map((turn) => ({ action: turn.action, next_state: turn.observation })) };
}

/** User turns are actions; the first one also has the initial state. */
function conversationOf(
  state: string,
  turns: readonly Turn[],
  action: string,
): { role: "user" | "assistant"; content: string }[] {
  const turnOf = (index: number, taken: string) =>
    composeUserTurn({ state: index === 0 ? state : undefined, action: taken });
  return [
    ...turns.flatMap((turn, index) => [
      { role: "user" as const, content: turnOf(index, turn.action) },
      { role: "assistant" as const, content: turn.observation },
    ]),
    { role: "user", content: turnOf(turns.length, action) },
  ];
}

export type EpisodeMessage = PromptMessage | { role: "assistant"; content: string };

/** The messages of a step after these turns: all turns in a chat, otherwise at least the last one. */
export function composeMessages(
  config: EnvironmentConfig,
  task: Task,
  turns: readonly Turn[],
  action: string,
): EpisodeMessage[] {
  const context = { ...config.context, ...task.context };
  if (promptFormOf(config) === "state-action")
    return composePrompt(context, { state: turns.at(-1)?.observation ?? task.initial_state, action });
  const system = composeSystemTurn(context);
  const conversation = conversationOf(task.initial_state, turns, action);
  return system === "" ? conversation : [{ role: "system", content: system }, ...conversation];
}

export function promptFormOf({ prompt_form: form }: EnvironmentConfig) {
  return form ?? environmentDefaults.promptForm;
}

/** How an episode ends with a step. */
export interface End {
  outcome: EpisodeOutcome | null;
  /** Whether a rule of the environment ended it; otherwise it was cut short. */
  isTerminated: boolean;
  reason: string;
}

export type Matches = (pattern: string, text: string) => Promise<boolean>;

/**
 * How an episode ends with the last of these turns: by the first rule that applies, by a guard, or by its number of steps. Undefined
 * if it goes on. The turns must reach back as far as `lookBackOf` says.
 */
export async function findEnd(
  config: EnvironmentConfig,
  task: Task,
  { turns, steps }: { turns: readonly Turn[]; steps: number },
  matches: Matches,
): Promise<End | undefined> {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  const rule = await ruleThatEnds(config.stop ?? [], last, task, matches);
  if (rule !== undefined) return { outcome: rule.outcome, isTerminated: true, reason: describe(rule) };
  const { repeat_limit: repeats, unchanged_limit: unchanged } = config.guards ?? {};
  if (repeats && isRepeated(turns, repeats))
    return cut(`The same action was taken ${countOf(repeats, "time")} in a row.`);
  if (
    unchanged &&
    isUnchanged([task.initial_state, ...turns.map((turn) => turn.observation)], unchanged, steps)
  )
    return cut(`The same observation after ${countOf(unchanged, "action")} in a row.`);
  const maxSteps = config.max_steps ?? environmentDefaults.maxSteps;
  return steps >= maxSteps
    ? cut(`The episode reached its limit of ${countOf(maxSteps, "step")}.`)
    : undefined;
}

/** The first rule that applies to a turn. */
export async function ruleThatEnds(
  stop: readonly EpisodeStop[],
  turn: Turn,
  task: Pick<Task, "goal">,
  matches: Matches,
): Promise<EpisodeStop | undefined> {
  for (const rule of stop) if (await applies(rule, turn, task, matches)) return rule;
  return undefined;
}

/** The reward of an end without an evaluator's: if success is possible, an episode that ends without success has 0. */
export function rewardOfOutcome(stop: readonly EpisodeStop[], outcome: EpisodeOutcome | null): number | null {
  if (!stop.some((rule) => rule.outcome === "success")) return null;
  return outcome === "success" ? 1 : 0;
}

/** How many turns before a step `findEnd` looks at. */
export function lookBackOf({ guards }: EnvironmentConfig): number {
  return Math.max(1, guards?.repeat_limit ?? 0, guards?.unchanged_limit ?? 0);
}

async function applies(
  rule: EpisodeStop,
  { action, observation }: Turn,
  { goal }: Pick<Task, "goal">,
  matches: Matches,
): Promise<boolean> {
  if ("output_contains" in rule)
    return withGoal(rule.output_contains, goal, (text) => observation.includes(text));
  if ("action_equals" in rule) return withGoal(rule.action_equals, goal, (text) => action === text);
  if ("output_matches" in rule) return await matches(rule.output_matches, observation);
  return await matches(rule.action_matches, action);
}

const goalMark = "{goal}";

/** A rule about the goal does not apply to a task without one. */
export function withGoal(text: string, goal: string | null | undefined, test: (text: string) => boolean) {
  if (!text.includes(goalMark)) return test(text);
  return typeof goal === "string" && test(text.replaceAll(goalMark, () => toStorableText(goal)));
}

/** Whether a rule needs a task's goal. */
export function isAboutGoal(rule: EpisodeStop): boolean {
  if ("output_contains" in rule) return rule.output_contains.includes(goalMark);
  return "action_equals" in rule && rule.action_equals.includes(goalMark);
}

function describe(rule: EpisodeStop): string {
  const [field = "", text = ""] = Object.entries(rule).find(([name]) => name !== "outcome") ?? [];
  return `${field}: ${text}`;
}

function cut(reason: string): End {
  return { outcome: null, isTerminated: false, reason };
}

function isRepeated(turns: readonly Turn[], limit: number): boolean {
  return areOneText(turns.map(({ action }) => action).slice(-limit), limit);
}

/** Whether the last `limit` observations and the state before them are one text. */
function isUnchanged(states: readonly string[], limit: number, steps: number): boolean {
  // The turns may not reach back to the initial state, which then is not the state before them.
  const known = states.length > steps ? states : states.slice(1);
  return areOneText(known.slice(-limit - 1), limit + 1);
}

/** Compares texts as they are stored: only those of the latest step still have their original form. */
function areOneText(texts: readonly string[], count: number): boolean {
  return texts.length === count && new Set(texts.map((text) => toStorableText(text))).size === 1;
}
