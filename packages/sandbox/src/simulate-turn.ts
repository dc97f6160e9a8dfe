import { readScene, type Scene } from "./scene.ts";
import { readToolCalls, respondToToolCalls } from "./tool-calls.ts";
import { lookVerbs, selfVerbs, travelVerbs } from "./verbs/agent.ts";
import { connectVerbs, deviceVerbs, doorVerbs, handlingVerbs, pourVerbs } from "./verbs/things.ts";
import { type Referent, refer, type ThingVerb, type Verb } from "./verbs/verb.ts";

/**
 * The observation of a rule-based text world after the action of a user turn. Nothing is kept between turns: the system
 * turn contains the map (`world/`), the state describes what has happened since (`scene`), and the
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

/** The first matching pattern wins: "move cup to table" must be tried before "move to hallway". */
const verbs: readonly Verb[] = [
  ...lookVerbs,
  ...selfVerbs,
  ...doorVerbs,
  ...deviceVerbs,
  ...handlingVerbs,
  ...pourVerbs,
  ...connectVerbs,
  ...travelVerbs,
];

/** Real commands are shorter. Patterns are not tried on longer input. */
const maxCommandCharacters = 500;

/** The observation that follows an action. */
function act(scene: Scene, action: string, knowledge: string): string {
  const chosen = readChoice(scene.state, action);
  const command = chosen ?? action.replace(/[.!]$/, "");
  if (command.length > maxCommandCharacters) return refusal(knowledge);

  for (const verb of verbs) {
    const words = verb.pattern.exec(command)?.slice(1);
    if (words === undefined) continue;
    const isChosen = chosen !== undefined;
    const observation = "form" in verb ? handle(scene, verb, words, isChosen) : verb.observe(scene, words);
    return observation ?? refusal(knowledge);
  }
  return applyDomainRule(knowledge, command) ?? refusal(knowledge);
}

function handle(
  scene: Scene,
  verb: ThingVerb,
  words: readonly string[],
  isChosen: boolean,
): string | undefined {
  const choices = words.map((name) => refer(scene, name, !verb.isForRoomOnly));
  if (choices.some((things) => things.length === 0)) return undefined;
  if (!isChosen && choices.some((things) => things.length > 1)) return askWhich(verb, choices);
  const [first, second] = choices.map((things) => things[0]);
  return first === undefined ? undefined : verb.perform(first, second ?? first);
}

const questionOpening =
  "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):";

/** More choices would not help, and the choices of two things multiply. */
const maxChoices = 12;

/** Asks which of several actions is meant. The next action is expected to be the number of one of them. */
function askWhich(verb: ThingVerb, choices: readonly Referent[][]): string {
  const actions = combine(choices).map(
    (things, index) =>
      `${index}:\t${things.reduce((form, thing) => form.replace("_", () => writeOut(thing)), verb.form)}`,
  );
  return [questionOpening, ...actions, ""].join("\n");
}

function writeOut({ fullName, place }: Referent): string {
  return `${fullName} (${place})`;
}

/** All combinations with one of each. */
function combine(choices: readonly Referent[][]): Referent[][] {
  return choices.reduce<Referent[][]>(
    (chosen, next) =>
      chosen.flatMap((things) => next.slice(0, maxChoices).map((thing) => [...things, thing])),
    [[]],
  );
}

/** The action that a number stands for, if the state ends by asking for one. */
function readChoice(state: string, action: string): string | undefined {
  if (!/^\d{1,4}$/.test(action)) return undefined;
  const question = state.lastIndexOf(questionOpening);
  if (question < 0) return undefined;
  const option = state
    .slice(question)
    .split("\n")
    .find((line) => line.startsWith(`${action}:\t`));
  return option?.slice(action.length + 2).replace(/ \(in [^()]{1,200}\)/g, "");
}

/** `When the agent does "sharpen X": … respond "The X is sharp now."` — a rule in the system turn. */
const rulePattern = /^When the agent does "([^"\n]{1,100})":[^"\n]{0,200}respond "([^"\n]{1,300})"/gm;
const refusalPattern = /^When action is invalid[^"\n]{0,200}respond "([^"\n]{1,300})"/m;
const defaultRefusal = "No known action matches that input.";

/** The observation for an action that only the domain knowledge defines. */
function applyDomainRule(knowledge: string, command: string): string | undefined {
  for (const [, pattern = "", response = ""] of knowledge.matchAll(rulePattern)) {
    const names = pattern.split(" ");
    const filled = fill(names, command.split(" "));
    if (filled !== undefined) return response.replace(/\b[XYZ]\b/g, (name) => filled.get(name) ?? name);
  }
  return undefined;
}

function refusal(knowledge: string): string {
  return refusalPattern.exec(knowledge)?.[1] ?? defaultRefusal;
}

/** Matches "sharpen X with Y" to "sharpen old knife with stone"; a variable matches all words up to the next fixed one. */
function fill(pattern: readonly string[], words: readonly string[]): Map<string, string> | undefined {
  const values = new Map<string, string>();
  let at = 0;
  for (const [index, part] of pattern.entries()) {
    if (!/^[XYZ]$/.test(part)) {
      if (words[at] !== part) return undefined;
      at += 1;
      continue;
    }
    const next = pattern[index + 1];
    const found = next === undefined ? words.length : words.indexOf(next, at + 1);
    if (found <= at) return undefined;
    values.set(part, words.slice(at, found).join(" "));
    at = found;
  }
  return at === words.length ? values : undefined;
}
