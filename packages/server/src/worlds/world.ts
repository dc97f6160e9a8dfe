import type {
  Context,
  DatasetSample,
  HistoryStep,
  PromptMessage,
  World,
  WorldConfig,
  WorldModel,
  WorldPins,
  WorldPreviewRequest,
} from "@presage/contract";
import { composeSystemTurn } from "@presage/contract/compose-prompt";
import { worldDefaults } from "@presage/contract/defaults";
import { ServiceError } from "../platform/errors.ts";
import { type Micros, toIsoInstant } from "../platform/storage/columns.ts";

export interface WorldRevision {
  id: string;
  name: string;
  revision: number;
  /** The config as given, without nulls. */
  config: WorldConfig;
  pinned: WorldPins;
  archived_at: Micros | null;
  created_at: Micros;
  revised_at: Micros;
}

/** Which samples of a revision are examples. */
export interface ExampleFilter {
  split?: string | undefined;
  /** Whether samples whose tag `split` is `test` are left out. */
  leavesOutTest?: boolean;
  /** Whether samples whose tag `error` is `true` are left out. */
  leavesOutErrors?: boolean | undefined;
  tags?: Readonly<Record<string, string>> | undefined;
  maxPerTrajectory?: number | undefined;
}

/** Whether a sample is an example, provided that its trajectory does not have too many. */
export function isExample({ tags = {} }: Pick<DatasetSample, "tags">, filter: ExampleFilter): boolean {
  if (filter.split !== undefined && tags.split !== filter.split) return false;
  if (filter.leavesOutTest && tags.split === "test") return false;
  if (filter.leavesOutErrors && tags.error === "true") return false;
  return Object.entries(filter.tags ?? {}).every(([name, value]) => tags[name] === value);
}

/** The samples of a revision, by its row's id, that are examples. */
export interface ExampleSource {
  /** The account in whose turn they are made searchable. */
  accountId: string;
  revisionId: number;
  filter: ExampleFilter;
  /** The digest of their index when a world pinned them. */
  digest?: string;
}

/** A world that can be asked. */
export interface ReadyWorld extends WorldRevision {
  /** Undefined if the world has no examples, or if they are gone and it can do without. */
  source: ExampleSource | undefined;
}

/** Whether the records alone answer. */
export function isRecords(model: WorldConfig["model"]): model is Extract<WorldModel, { kind: "retrieval" }> {
  return model !== null && model !== undefined && "kind" in model;
}

/** What a world is asked: a step, or the turns of a chat. */
export interface Asked {
  context?: Context | null | undefined;
  interaction?: { state: string; action: string } | undefined;
  /** Given in place of an interaction. A turn without content has tool calls. */
  messages?: readonly { role: string; content?: string | null }[] | undefined;
  history?: readonly HistoryStep[] | undefined;
  /**
   * The turns of an episode that is one conversation, which are sent in place of the interaction. Its examples are found by the state
   * that it began with, so that they stay the same. The records alone still answer the interaction.
   */
  conversation?: { state: string; turns: readonly { role: string; content: string }[] } | undefined;
  exclude?: { trajectoryIds?: readonly string[]; tags?: Readonly<Record<string, string>> } | undefined;
  /** The recorded sample that is asked about: neither it nor what is left out with it is an example. */
  recorded?: { trajectoryId: string; tags: Readonly<Record<string, string>> } | undefined;
}

export function toAsked({
  context,
  interaction,
  history,
  exclude,
}: Omit<WorldPreviewRequest, "sample">): Asked {
  return {
    context,
    interaction: interaction ?? undefined,
    history: history ?? [],
    exclude: { trajectoryIds: exclude?.trajectory_ids ?? [], tags: exclude?.tags ?? {} },
  };
}

/** The texts that examples are found by, as written. An empty text is an absent field. */
export interface Fields {
  action: string;
  state: string;
  task: string;
}

interface Turns {
  messages?: readonly { role: string; content: string }[] | undefined;
}

/** A sample's fields. `state`, if given, is what was predicted in place of the recorded one. */
export function fieldsOf(
  { context, interaction, messages = [] }: Pick<DatasetSample, "context" | "interaction"> & Turns,
  state?: string,
): Fields {
  if (interaction) {
    const task = context?.task_context ?? "";
    return { action: interaction.action, state: state ?? interaction.state, task };
  }
  const last = messages.findLastIndex(({ role }) => role === "user");
  const first = messages.findIndex(({ role }) => role === "user");
  const answer = messages.findLast(({ role }, index) => role === "assistant" && index < last);
  const task = first < last ? messages[first] : messages.find(({ role }) => role === "system");
  return {
    action: messages[last]?.content ?? "",
    state: state ?? answer?.content ?? "",
    task: task?.content ?? "",
  };
}

/** A recorded transition that is shown to the model. */
export interface ShownExample {
  position: number;
  sampleId: string;
  trajectoryId: string;
  action: string;
  nextState: string;
  /** The example's turns as they are sent. */
  question: string;
  answer: string;
}

export function toShown(position: number, sample: DatasetSample): ShownExample {
  const { action, state } = fieldsOf(sample);
  const { dataset_sample_id: sampleId, trajectory_id: trajectoryId, next_state: nextState } = sample;
  const question = questionOf(cut(state, mostOfState), action);
  return {
    position,
    sampleId,
    trajectoryId,
    action,
    nextState,
    question,
    answer: cut(nextState, mostOfNextState),
  };
}

const defaultInstructions =
  "You are the environment that an agent acts in. Given a state and an action, answer with the next state and nothing else: no comments, no explanations. Recorded transitions may come first: what they show holds, and your answer has their form.";

/** The system turn of a world, the same for all requests with this context. */
export function systemTurnOf({ instructions, context }: WorldConfig, ofRequest?: Context | null): string {
  const given = Object.entries(ofRequest ?? {}).filter(([, text]) => text !== null && text !== undefined);
  const sections = composeSystemTurn({ ...context, ...Object.fromEntries(given) });
  return [instructions ?? defaultInstructions, sections].filter((text) => text !== "").join("\n\n");
}

const mostOfState = 1_000;
const mostOfNextState = 2_000;

export interface ComposedTurns {
  messages: PromptMessage[];
  /** The examples' part of the messages' characters, from 0 to 1. */
  exampleShare: number;
}

/** The turns that are sent: the system turn, examples with the most similar last, earlier steps, and what is asked. */
export function composeTurns(
  { config }: Pick<WorldRevision, "config">,
  { context, interaction, conversation, messages = [], history = [] }: Asked,
  examples: readonly ShownExample[],
): ComposedTurns {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content ?? "");
  const systemTurn = [systemTurnOf(config, context), ...system].filter((text) => text !== "").join("\n\n");
  const shown = examples.toReversed();
  const isSection = config.retrieval?.place === "system" && shown.length > 0;
  const section = isSection ? sectionOf(shown) : "";
  const ofExamples = isSection ? [] : shown.flatMap(({ question, answer }) => pairOfTurns(question, answer));
  const asked = conversation
    ? conversation.turns
    : interaction
      ? [{ role: "user", content: questionOf(interaction.state, interaction.action) }]
      : messages.filter(({ role }) => role !== "system");
  const turns: PromptMessage[] = [
    { role: "system", content: systemTurn + section },
    ...ofExamples,
    ...newestSteps(config, history).flatMap(({ action, next_state }) =>
      pairOfTurns(`Action: ${action}`, next_state),
    ),
    // Turns with tool calls, which have no content, are passed on unchanged.
    ...(asked as PromptMessage[]),
  ];
  const characters = charactersOf(turns);
  const exampleShare = characters === 0 ? 0 : (section.length + charactersOf(ofExamples)) / characters;
  return { messages: turns, exampleShare };
}

function sectionOf(shown: readonly ShownExample[]): string {
  const all = shown.map(({ question, answer }) => `${question}\n\nNext state: ${answer}`);
  return `\n\n## RECORDED EXAMPLES\n${all.join("\n\n---\n\n")}`;
}

function charactersOf(turns: readonly PromptMessage[]): number {
  return turns.reduce((sum, { content }) => sum + (content ?? "").length, 0);
}

function pairOfTurns(question: string, answer: string): PromptMessage[] {
  return [
    { role: "user", content: question },
    { role: "assistant", content: answer },
  ];
}

function questionOf(state: string, action: string): string {
  return state === "" ? `Action: ${action}` : `State: ${state}\n\nAction: ${action}`;
}

/** The most earlier steps that are shown. */
export function stepsShown({ history }: WorldConfig): number {
  return history?.steps ?? worldDefaults.history.steps;
}

/** The newest steps, as many as the world wants. */
function newestSteps(config: WorldConfig, history: readonly HistoryStep[]): HistoryStep[] {
  const steps = stepsShown(config);
  let left = config.history?.max_chars ?? worldDefaults.history.max_chars;
  const newest = steps === 0 ? [] : history.slice(-steps);
  const first = newest.findLastIndex(({ action, next_state }) => {
    left -= codePoints(action, left + 1);
    left -= codePoints(next_state, left + 1);
    return left < 0;
  });
  return newest.slice(first + 1);
}

/** A text's length, up to a maximum. */
export function codePoints(text: string, most = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (const _ of text) {
    if (count === most) break;
    count += 1;
  }
  return count;
}

/** A text's beginning, and how much follows. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let [characters, end] = [0, 0];
  for (let at = 0; at < text.length; characters += 1) {
    if (characters === most) end = at;
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  if (characters <= most) return text;
  const beginning = `${text.slice(0, end)}… [+${characters - most} characters]`;
  // Copied, because a part of a text keeps the whole text in memory.
  return JSON.parse(JSON.stringify(beginning)) as string;
}

export function examplesGone(ofWorld = ""): ServiceError {
  return new ServiceError(
    "examples_gone",
    `The dataset with the examples of the world${ofWorld} is deleted. Revise it with other examples, or with none.`,
  );
}

export function examplesDiffer(): ServiceError {
  return new ServiceError(
    "examples_gone",
    "The examples are not those that the world was made with: their index has another digest. Revise it with its examples.",
  );
}

/** A world that answers without examples. A calibration only applies to answers with them. */
export function withoutExamples(world: WorldRevision): ReadyWorld {
  return { ...world, source: undefined, pinned: { ...world.pinned, calibration: null } };
}

/** Uses a world, or, if its examples turn out to be gone or others, the world without them, if it may answer so. */
export async function withOptionalExamples<Result>(
  world: ReadyWorld,
  use: (world: ReadyWorld) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(world);
  } catch (error) {
    if (!isAboutExamples(error) || world.config.examples?.required !== false) throw error;
    return await use(withoutExamples(world));
  }
}

/** Whether a world's examples are gone, or others than it was made with. */
export function isAboutExamples(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === "examples_gone";
}

/** Whether a world cannot be used, as opposed to not being found because of the database. */
export function isAboutWorld(error: unknown): error is ServiceError {
  return isAboutExamples(error) || (error instanceof ServiceError && error.code === "not_found");
}

/** A world in the form of responses. */
export function toWorld({ archived_at, created_at, revised_at, id: _, ...world }: WorldRevision): World {
  return {
    ...world,
    archived: archived_at !== null,
    created_at: toIsoInstant(created_at),
    revised_at: toIsoInstant(revised_at),
  };
}
