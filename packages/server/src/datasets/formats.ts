import { createHash } from "node:crypto";
import {
  type Context,
  DatasetLine,
  maxConversationMessages,
  maxTrajectoryIdCharacters,
  shortText,
} from "@presage/contract";
import { contextFields } from "@presage/contract/compose-prompt";
import { z } from "zod";
import { interactionFirst } from "../platform/storage/beginnings.ts";
import { countOf } from "../platform/words.ts";
import { checkLine, LineError } from "./upload/lines.ts";

/** A text that samples share: a context, or a message linked to the message before it. */
export interface Part {
  digest: string;
  previous: string | null;
  /** As JSON. */
  text: string;
}

/** A sample as it is stored. Its parts and its body make up the exported line. */
export interface CanonicalSample {
  sample_id: string;
  trajectory_id: string;
  step: number;
  /** The context, or all messages. */
  parts: readonly Part[];
  /** As JSON: the line's fields after the parts. */
  body: string;
}

/**
 * Brings samples into canonical form: fields in a fixed order, none of them null, tags sorted by name. Messages that a sample shares
 * with the one before it are not processed again.
 */
export function createCanonicaliser(): (sample: ReadSample) => CanonicalSample {
  let last: readonly Part[] = [];
  return (sample) => {
    const { trajectory_id, step, interaction, reward, done, at, usage, tags } = sample;
    const parts = sample.messages ? chainMessages(sample.messages, last) : contextPart(sample.context);
    last = parts;
    const names = Object.keys(tags ?? {}).sort();
    const body = {
      interaction: interaction ? { state: interaction.state, action: interaction.action } : undefined,
      next_state: sample.next_state,
      reward: reward ?? undefined,
      done: done ?? undefined,
      at: at ?? undefined,
      usage: usageOf(usage),
      tags: names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, tags?.[name]])),
    };
    return {
      sample_id: sample.dataset_sample_id ?? `${trajectory_id}/${step}`,
      trajectory_id,
      step,
      parts,
      body: JSON.stringify(body),
    };
  };
}

const usageFields = ["prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd"] as const;

function usageOf(usage: ReadSample["usage"]): ReadSample["usage"] {
  const given = usageFields.flatMap((name) => (usage?.[name] === undefined ? [] : [[name, usage[name]]]));
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function contextPart(context: Context | null | undefined): Part[] {
  const given = contextFields.flatMap((name) => {
    const text = context?.[name];
    return typeof text === "string" ? [[name, text] as const] : [];
  });
  return given.length === 0 ? [] : [toPart(JSON.stringify(Object.fromEntries(given)), null)];
}

type Message = NonNullable<ReadSample["messages"]>[number];

function chainMessages(messages: readonly Message[], last: readonly Part[]): Part[] {
  const parts: Part[] = [];
  let isShared = true;
  for (const [index, { role, content }] of messages.entries()) {
    const text = JSON.stringify({ role, content });
    const earlier = last[index];
    isShared &&= earlier?.text === text;
    parts.push(isShared && earlier ? earlier : toPart(text, parts[index - 1]?.digest ?? null));
  }
  return parts;
}

function toPart(text: string, previous: string | null): Part {
  const digest = createHash("sha256")
    .update(`${previous ?? ""}\n${text}`)
    .digest("base64url");
  return { digest, previous, text };
}

/** The pieces of a sample's line, without its line feed. */
export function* lineOf(sample: Omit<CanonicalSample, "parts"> & { parts: readonly Pick<Part, "text">[] }) {
  const { sample_id, trajectory_id, step, parts, body } = sample;
  const ids = `{"dataset_sample_id":${JSON.stringify(sample_id)},"trajectory_id":${JSON.stringify(trajectory_id)},"step":${step}`;
  const hasInteraction = body.startsWith(interactionFirst);
  yield ids;
  if (!hasInteraction) yield ',"messages":[';
  else if (parts.length > 0) yield ',"context":';
  for (const [index, { text }] of parts.entries()) {
    if (index > 0) yield ",";
    yield text;
  }
  yield `${hasInteraction ? "" : "]"},${body.slice(1)}`;
}

const id = z.union([shortText(maxTrajectoryIdCharacters), z.int()]).nullish();
const Conversation = z.looseObject({
  trajectory_id: id,
  id,
  item_id: id,
  messages: z
    .array(z.looseObject({ role: z.enum(["system", "user", "assistant"]), content: z.string() }))
    .max(maxConversationMessages),
});

/**
 * A conversation between an agent (the user) and the environment (the assistant): each assistant turn after a user turn is a next
 * state, and all turns before it are the model's prompt. Other fields are ignored.
 */
export function* readChatTrajectory(value: unknown, line: number): Generator<ReadSample, void> {
  const conversation = checkLine(Conversation, value);
  const messages = conversation.messages.map(({ role, content }) => ({ role, content }));
  const trajectoryId =
    conversation.trajectory_id ?? conversation.id ?? conversation.item_id ?? `line-${line}`;
  let step = 0;
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== "assistant" || messages[index - 1]?.role !== "user") continue;
    yield {
      trajectory_id: String(trajectoryId),
      step,
      messages: messages.slice(0, index),
      next_state: content,
    };
    step += 1;
  }
  if (step === 0) throw new LineError("There is no assistant turn after a user turn", ["messages"]);
}

const State = z.looseObject({ score: z.number().optional(), gameOver: z.boolean().optional() });
const Transition = z.looseObject({
  game: shortText(maxTrajectoryIdCharacters),
  state_id: z.int().min(0),
  current_state: z.looseObject({ taskDesc: z.string().optional() }),
  tick_state: State.extend({ lastAction: z.string().min(1) }),
  current_score_state: State.nullish(),
  next_score_state: State.nullish(),
});

/**
 * A transition of LLM-Sim (Wang et al. 2024): the states before the action and after the environment's tick, as JSON. Its `state_id`
 * counts the transitions of a game, which all start on the path of one playthrough, so each game is one trajectory.
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

/** As in the paper, whose predicted states include the score. */
function withScore(state: object, score: object | null | undefined): string {
  return JSON.stringify(score ? { ...state, score_state: score } : state);
}

/** Presage's own lines, one sample each. */
export function* readOwnLine(value: unknown): Generator<ReadSample, void> {
  const line = checkLine(DatasetLine, value);
  const { interaction, messages, context } = line;
  if (!interaction && !messages) throw new LineError("Field required; or give messages", ["interaction"]);
  if (messages) {
    if (interaction) throw new LineError("Give either interaction or messages", ["messages"]);
    if (context) throw new LineError("Give context beside interaction, not beside messages", ["context"]);
    if (messages.length > 0 && messages.at(-1)?.role !== "user")
      throw new LineError("The last message must be the user's", ["messages"]);
  }
  yield line;
}

/** A line's prediction is the first of these fields that it has. */
export const predictionFields = ["prediction_raw", "predicted", "generated"] as const;
const referenceFields = ["reference", "expected", "ground_truth"] as const;

const text = z.string().nullish();
const Row = z.looseObject({
  index: id,
  prediction_raw: text,
  predicted: text,
  generated: text,
  reference: text,
  expected: text,
  ground_truth: text,
  skipped_overlong: z.boolean().nullish(),
});

/** mdlm_world_modeling starts a failed prediction's text with this word. */
const failure = "ERROR";

/**
 * A prediction made elsewhere, with its reference, as mdlm_world_modeling writes them. Such a file does not contain the prompts, so
 * the sample has no messages, and each line is its own trajectory. A failed prediction is left out, but not its reference.
 */
export function* readPredictionLine(value: unknown, line: number): Generator<ReadSample, void> {
  const row = checkLine(Row, value);
  const reference = firstOf(row, referenceFields);
  if (typeof reference !== "string") throw new LineError("Field required", ["reference"]);
  const answer = answerOfLine(row);
  const id = String(row.index ?? `line-${line}`);
  yield {
    dataset_sample_id: id,
    trajectory_id: id,
    step: 0,
    messages: [],
    next_state: reference,
    ...("prediction" in answer ? answer : {}),
  };
}

type LineAnswer = { prediction: string } | { failure: "error" | "skipped" };
type AnswerField = (typeof predictionFields)[number] | "prediction";

/** What a line predicts, or why it has no answer: the same rule for all files of predictions, including those uploaded to a run. */
export function answerOfLine(
  line: { [field in AnswerField]?: string | null | undefined } & {
    skipped_overlong?: boolean | null | undefined;
  },
  fields: readonly AnswerField[] = predictionFields,
): LineAnswer {
  if (line.skipped_overlong === true) return { failure: "skipped" };
  const prediction = firstOf(line, fields);
  const isOfScript = predictionFields.some((field) => field in line);
  if (typeof prediction !== "string" || (isOfScript && prediction.startsWith(failure)))
    return { failure: "error" };
  return { prediction };
}

/** Counts lines with the index of an earlier line. The earlier line counts, as in the script. */
export function countRepeatedIndexes() {
  // There may be millions of indexes. Most are numbers, which take less memory than strings.
  const seen = new Set<string | number>();
  let repeated = 0;
  return {
    isRepeated(index: string | number): boolean {
      const key = String(Number(index)) === String(index) ? Number(index) : index;
      if (!seen.has(key)) return !seen.add(key);
      repeated += 1;
      return true;
    },
    warnings: () =>
      repeated === 0
        ? undefined
        : [`${countOf(repeated, "line")} passed over: of lines with the same index the first counts.`],
  };
}

function firstOf<Field extends string>(
  row: { [field in Field]?: string | null | undefined },
  fields: readonly Field[],
): string | null | undefined {
  const field = fields.find((one) => one in row);
  return field === undefined ? undefined : row[field];
}

export interface ReadSample extends DatasetLine {
  /** The prediction made elsewhere for the sample. A revision does not keep it. */
  prediction?: string;
}
