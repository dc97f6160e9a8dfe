import type { DatasetSample } from "@presage/contract";
import { parsedText } from "../datasets/traces/content.ts";
import { exactJson } from "../datasets/traces/documents/exact-json.ts";
import { openAiChat } from "../datasets/traces/layouts/messages/openai-chat.ts";
import { statedFor } from "./stated.ts";
import { actionText, callOf, openingTexts, type Trajectory, toolsOf } from "./trajectory.ts";

/** A message of a chat in which the assistant is the agent. */
export interface AgentMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** The messages of a trajectory: what the environment says is the user's, or a tool's that was called. */
export function agentMessages(trajectory: Trajectory): AgentMessage[] {
  const { samples } = trajectory;
  const system = samples[0]?.context?.domain_knowledge;
  return [
    ...(system ? [{ role: "system", content: system } as const] : []),
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
      tool_calls: [{ id, type: "function", function: { name, arguments: exactJson(input) } }],
    },
    { role: "tool", tool_call_id: id, content: next_state },
  ];
}

/** A trajectory as a request of OpenAI's Chat Completions, with what it does not say in `extra.presage`. */
export function toOpenAiChat(trajectory: Trajectory): object {
  const tools = toolsOf(trajectory);
  const reward = trajectory.samples.at(-1)?.reward;
  const chat = {
    id: trajectory.id,
    messages: agentMessages(trajectory),
    ...(tools !== undefined && tools.length > 0 && { tools }),
    ...(reward !== undefined && { reward }),
    extra: { presage: [] as (object | null)[] },
  };
  return { ...chat, extra: { presage: statedFor(openAiChat, chat, trajectory) } };
}

const shareGptRoles = { system: "system", user: "human", assistant: "gpt", tool: "observation" } as const;

/** A trajectory in ShareGPT's form. */
export function toShareGpt(trajectory: Trajectory): object {
  const reward = trajectory.samples.at(-1)?.reward;
  return {
    id: trajectory.id,
    conversations: agentMessages(trajectory).map(({ role, content, tool_calls: [call] = [] }) => {
      if (call === undefined) return { from: shareGptRoles[role], value: content ?? "" };
      const { name, arguments: input } = call.function;
      return { from: "function_call", value: exactJson({ name, arguments: parsedText(input) }) };
    }),
    ...(toolsOf(trajectory) && { tools: trajectory.samples[0]?.context?.tool_schemas }),
    ...(reward !== undefined && { reward }),
  };
}
