import type { DatasetSample } from "@presage/contract";
import { composePrompt, composeSystemTurn, readUserTurn } from "@presage/contract/compose-prompt";
import packageJson from "../../package.json" with { type: "json" };
import type { ReadSample } from "../datasets/formats.ts";
import { LeftOut, parsedText, TraceTexts } from "../datasets/traces/content.ts";
import type { Layout } from "../datasets/traces/layout.ts";
import { atif } from "../datasets/traces/layouts/agents/atif.ts";
import { openAiChat } from "../datasets/traces/layouts/messages/openai-chat.ts";
import { createRedactor } from "../datasets/traces/redaction/redact.ts";
import { samplesOfTrace } from "../datasets/traces/trace-file.ts";
import { lastReActAction } from "../datasets/traces/turns.ts";
import { abstainedTag } from "../environments/episodes/episode-lines.ts";
import { isObject } from "../platform/words.ts";
import { jsonAsWritten, parseAsWritten } from "../platform/written-json.ts";

/** The samples of one trajectory, by step. */
export interface Trajectory {
  id: string;
  samples: readonly DatasetSample[];
  /** For a run: whether the whole trajectory was predicted and passes. */
  isSuccess?: boolean;
}

/** Actions are texts. One of the form `{"input":…,"tool":NAME}` is a tool call, which gets an id that is unique in its trajectory. */
export function callOf({ interaction }: DatasetSample, index: number) {
  const { action } = interaction ?? {};
  if (action === undefined || !action.startsWith('{"input":')) return undefined;
  try {
    const { input, tool, ...others } = parseAsWritten(action) as Record<string, unknown>;
    if (typeof tool !== "string" || tool === "" || Object.keys(others).length > 0) return undefined;
    return { id: `call_${index + 1}`, name: tool, input };
  } catch {
    return undefined;
  }
}

const noAction = "(none)";

/** What the agent saw and did. The last turn of a conversation may state both, in the words of a prediction's prompt. */
function actedIn({ interaction, messages }: DatasetSample): { state?: string | undefined; action: string } {
  if (interaction) return interaction;
  const turn = messages?.at(-1)?.content ?? "";
  return readUserTurn(turn) ?? { action: turn };
}

/** What the agent did, as a text that an import recognises as an action. */
export function actionText(sample: DatasetSample): string {
  const text = actedIn(sample).action;
  return lastReActAction(text.trim()) === "" ? noAction : text;
}

/** The placeholder state of a trajectory that says nothing before its first action. */
const noState = "(start)";

/** What the environment said before the first action: the task, and the first state if its text differs. */
function openingTexts({ samples }: Trajectory): string[] {
  const [first] = samples;
  const { task_context: task } = first?.context ?? {};
  const { state } = first === undefined ? {} : actedIn(first);
  const texts = [task, state === noState ? undefined : state].filter((text) => typeof text === "string");
  return [...new Set(texts)].filter((text) => text !== "");
}

/** The tools that a context lists as JSON. */
function toolsOf({ samples }: Trajectory): unknown[] | undefined {
  const text = samples[0]?.context?.tool_schemas;
  if (typeof text !== "string") return undefined;
  try {
    const tools = parseAsWritten(text);
    return Array.isArray(tools) && tools.every((tool) => typeof tool === "object" && tool !== null)
      ? tools
      : undefined;
  } catch {
    return undefined;
  }
}

/** A message of a chat in which the assistant is the agent. */
interface AgentMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

const turnedRoles = { system: "system", user: "assistant", assistant: "user" } as const;

/** What was said before a conversation's first action; the agent is its user. A prediction's prompt addresses the model, not the agent. */
function messagesBefore({ samples }: Trajectory): AgentMessage[] {
  const messages = samples[0]?.messages ?? [];
  const isPrompt = readUserTurn(messages.at(-1)?.content ?? "") !== undefined;
  return messages.slice(0, -1).flatMap(({ role, content }) => {
    if (!isPrompt || role === "assistant") return [{ role: turnedRoles[role], content }];
    const { state, action } = readUserTurn(content) ?? { action: content };
    const seen = state === undefined ? [] : [{ role: "user", content: state } as const];
    return role === "system" ? [] : [...seen, { role: "assistant", content: action } as const];
  });
}

/** The messages of a trajectory: the environment speaks as the user, or as the tool that was called. */
function agentMessages(trajectory: Trajectory, before: readonly AgentMessage[] = []): AgentMessage[] {
  const { samples } = trajectory;
  const system = samples[0]?.context?.domain_knowledge;
  return [
    ...(system ? [{ role: "system", content: system } as const] : []),
    ...before,
    ...openingTexts(trajectory).map((content) => ({ role: "user", content }) as const),
    ...samples.flatMap(exchangeOf),
  ];
}

function exchangeOf(sample: DatasetSample, index: number): AgentMessage[] {
  const { next_state } = sample;
  const call = callOf(sample, index);
  if (call === undefined)
    return [
      { role: "assistant", content: actionText(sample) },
      { role: "user", content: next_state },
    ];
  const { id, name, input } = call;
  return [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name, arguments: jsonAsWritten(input) } }],
    },
    { role: "tool", tool_call_id: id, content: next_state },
  ];
}

/** A trajectory as an OpenAI Chat Completions request; what the format cannot express is in `extra.presage`. */
export function toOpenAiChat(trajectory: Trajectory): object {
  const tools = toolsOf(trajectory);
  const reward = trajectory.samples.at(-1)?.reward;
  const chat = {
    id: trajectory.id,
    messages: agentMessages(trajectory),
    ...(tools !== undefined && tools.length > 0 && { tools }),
    ...(reward !== undefined && { reward }),
  };
  return { ...chat, extra: { presage: statedFor(openAiChat, chat, trajectory) } };
}

const shareGptRoles = { system: "system", user: "human", assistant: "gpt", tool: "observation" } as const;

/** A trajectory in ShareGPT's form. */
export function toShareGpt(trajectory: Trajectory): object {
  const reward = trajectory.samples.at(-1)?.reward;
  return {
    id: trajectory.id,
    conversations: agentMessages(trajectory, messagesBefore(trajectory)).map(
      ({ role, content, tool_calls: [call] = [] }) => {
        if (call === undefined) return { from: shareGptRoles[role], value: content ?? "" };
        const { name, arguments: input } = call.function;
        return { from: "function_call", value: jsonAsWritten({ name, arguments: parsedText(input) }) };
      },
    ),
    ...(toolsOf(trajectory) && { tools: trajectory.samples[0]?.context?.tool_schemas }),
    ...(reward !== undefined && { reward }),
  };
}

/** A trajectory in Harbor's Agent Trajectory Interchange Format; what the format cannot express is in `extra.presage`. */
export function toAtif(trajectory: Trajectory, version: string): object {
  const { id, samples } = trajectory;
  const tools = toolsOf(trajectory);
  const system = samples[0]?.context?.domain_knowledge;
  const { agent = "presage", model } = samples[0]?.tags ?? {};
  const steps = [
    ...(system ? [{ source: "system", message: system }] : []),
    ...openingTexts(trajectory).map((message) => ({ source: "user", message })),
    ...samples.map(stepOf),
  ].map((step, index) => ({ step_id: index + 1, ...step }));
  const document = {
    schema_version: `ATIF-v${version}`,
    session_id: id,
    agent: {
      name: agent,
      version: packageJson.version,
      ...(model && { model_name: model }),
      ...(tools !== undefined && tools.length > 0 && { tool_definitions: tools }),
    },
    steps,
  };
  return { ...document, extra: { presage: statedFor(atif, document, trajectory) } };
}

function stepOf(sample: DatasetSample, index: number) {
  const { next_state, reward, done, at, usage } = sample;
  const call = callOf(sample, index);
  const extra = { ...(reward !== undefined && { reward }), ...(done !== undefined && { done }) };
  const isCalled = call !== undefined && isObject(call.input);
  return {
    source: "agent",
    ...(at !== undefined && { timestamp: at }),
    message: isCalled ? "" : actionText(sample),
    ...(isCalled && {
      tool_calls: [{ tool_call_id: call.id, function_name: call.name, arguments: call.input }],
    }),
    observation: { results: [{ ...(isCalled && { source_call_id: call.id }), content: next_state }] },
    ...(usage !== undefined && { metrics: usage }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

interface SftOptions {
  /** Whose turns are learnt: the environment's (`world`) or the agent's. */
  direction: "world" | "agent";
  onlySuccess: boolean;
  minReward: number | undefined;
  /** Whether each message says if the loss includes it. */
  marksLoss: boolean;
}

/** A trajectory as training conversations, for a world model by default. None if the trajectory does not qualify. */
export function toSft(
  { id, samples, isSuccess }: Trajectory,
  { direction, onlySuccess, minReward, marksLoss }: SftOptions,
): object[] {
  const last = samples.at(-1);
  if (onlySuccess && !(isSuccess ?? endsInSuccess(last))) return [];
  if (minReward !== undefined && (last?.reward ?? Number.NEGATIVE_INFINITY) < minReward) return [];
  const guess = samples.findIndex(({ tags }) => tags?.[abstainedTag] !== undefined);
  // A model should not learn from a guess, or from anything that followed from it.
  const sure = { id, samples: guess < 0 ? samples : samples.slice(0, guess) };
  const isAgents = direction === "agent";
  const conversations = isAgents ? [actedMessages(sure)] : worldConversations(sure);
  return conversations
    .filter((messages) => messages.length > 0)
    .map((messages) => ({
      messages: marksLoss ? messages.map((one) => ({ ...one, loss: one.role === "assistant" })) : messages,
      // Text, because a column of objects would get the parameters of all tools.
      ...(isAgents && toolsOf(sure)?.length && { tools: samples[0]?.context?.tool_schemas }),
      trajectory_id: id,
    }));
}

/**
 * Leaves out samples without a known action, such as uploaded predictions. Adjacent texts of the user are joined, since chat
 * templates want alternating roles.
 */
function actedMessages(trajectory: Trajectory): AgentMessage[] {
  const samples = trajectory.samples.filter(({ messages }) => messages?.length !== 0);
  const acted = { ...trajectory, samples };
  const joined: AgentMessage[] = [];
  for (const message of samples.length === 0 ? [] : agentMessages(acted, messagesBefore(acted))) {
    const last = joined.at(-1);
    if (last?.role === "user" && message.role === "user")
      joined.splice(-1, 1, { ...last, content: `${last.content}\n\n${message.content}` });
    else joined.push(message);
  }
  return joined;
}

/** Episodes state their outcome; other trajectories end with a reward. */
function endsInSuccess(last: DatasetSample | undefined): boolean {
  const outcome = last?.tags?.outcome;
  return outcome === undefined ? (last?.reward ?? 0) > 0 : outcome === "success";
}

interface Turn {
  role: string;
  content: string;
}

/**
 * What a world model is asked, step by step, with the environment's answers as the assistant's turns. A new conversation begins
 * where the context changes, since a conversation has one system turn.
 */
function worldConversations({ samples }: Trajectory): Turn[][] {
  const last = samples.at(-1);
  // A conversation's last sample contains all turns before it.
  if (last?.messages) return [[...last.messages, { role: "assistant", content: last.next_state }]];
  const conversations: Turn[][] = [];
  let told: string | undefined;
  for (const { interaction, context, next_state } of samples) {
    const asked = interaction ? composePrompt(context, interaction) : [];
    const system = composeSystemTurn(context);
    const turns = [
      ...asked.filter(({ role }) => role !== "system"),
      { role: "assistant", content: next_state },
    ];
    if (told === system) conversations.at(-1)?.push(...turns);
    else conversations.push([...asked.filter(({ role }) => role === "system"), ...turns]);
    told = system;
  }
  return conversations;
}

const fields = [
  "step",
  "context",
  "interaction",
  "messages",
  "next_state",
  "reward",
  "done",
  "at",
  "usage",
  "tags",
] as (keyof DatasetSample & keyof ReadSample)[];

/**
 * What an import could not recover from a document about the samples it was made from: for each sample an object with the differing
 * fields, or null if none differ. The document carries it as `extra.presage`, so that importing an export restores the samples.
 */
function statedFor(layout: Layout, document: unknown, { id, samples }: Trajectory): (object | null)[] {
  const options = {
    source: undefined,
    assistantIs: "agent",
    score: undefined,
    leftOut: new LeftOut(),
  } as const;
  const whole = { place: ["document", 1] as ["document", number], bytes: 0, value: document };
  const texts = new TraceTexts(createRedactor("none"));
  const [read] = [...layout.open(options).read(whole)];
  if (read === undefined || !("trace" in read)) throw new Error(`The document is no ${layout.format}`);
  const place = { trajectory_id: id, source: layout.format };
  const found = samplesOfTrace(read.trace, place, { step: "call", keepsThoughts: false }, texts);
  if (found.length !== samples.length)
    throw new Error(`Of ${samples.length} samples of ${id}, ${layout.format} has ${found.length}`);
  return samples.map((sample, index) => differences(sample, found[index] as ReadSample));
}

function differences(sample: DatasetSample, found: ReadSample): object | null {
  const stated: Record<string, unknown> = {};
  for (const field of fields) {
    const own = present(sample[field]);
    if (!Bun.deepEquals(own, present(found[field]))) stated[field] = own ?? null;
  }
  const usualId = `${sample.trajectory_id}/${sample.step}`;
  if (sample.dataset_sample_id !== usualId) stated.dataset_sample_id = sample.dataset_sample_id;
  return Object.keys(stated).length === 0 ? null : stated;
}

/** The value without absent fields. */
function present(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined;
  const given = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
