import type { DatasetSample } from "@presage/contract";
import { composePrompt } from "@presage/contract/compose-prompt";
import { agentMessages } from "./agent-chat.ts";
import { type Trajectory, toolsOf } from "./trajectory.ts";

export interface SftOptions {
  /** Whose turns are learnt: the environment's or the agent's. */
  direction: "world" | "agent";
  onlySuccess: boolean;
  minReward: number | undefined;
  /** Whether each message says if it is learnt from. */
  marksLoss: boolean;
}

/** A trajectory as a conversation to train on: of a world model by default. Undefined if it does not qualify. */
export function toSft(
  trajectory: Trajectory,
  { direction, onlySuccess, minReward, marksLoss }: SftOptions,
): object | undefined {
  const last = trajectory.samples.at(-1);
  if (onlySuccess && !isSuccess(last)) return undefined;
  if (minReward !== undefined && (last?.reward ?? Number.NEGATIVE_INFINITY) < minReward) return undefined;
  const isAgents = direction === "agent";
  const messages = isAgents ? agentMessages(trajectory) : worldMessages(trajectory);
  return {
    messages: marksLoss ? messages.map((one) => ({ ...one, loss: one.role === "assistant" })) : messages,
    // As a text, since a column of objects would have the parameters of all tools.
    ...(isAgents && toolsOf(trajectory)?.length && { tools: trajectory.samples[0]?.context?.tool_schemas }),
    trajectory_id: trajectory.id,
  };
}

/** An episode tells its outcome; other trajectories end with a reward. */
function isSuccess(last: DatasetSample | undefined): boolean {
  const outcome = last?.tags?.outcome;
  return outcome === undefined ? (last?.reward ?? 0) > 0 : outcome === "success";
}

/** What a world model is asked, step by step, with what the environment answered in the assistant's place. */
function worldMessages({ samples }: Trajectory): { role: string; content: string }[] {
  const last = samples.at(-1);
  // A conversation's last turn has all turns before it.
  if (last?.messages) return [...last.messages, { role: "assistant", content: last.next_state }];
  return samples.flatMap(({ interaction, context, next_state }, index) => {
    const asked = interaction ? composePrompt(context, interaction) : [];
    const told = asked.filter(({ role }) => index === 0 || role !== "system");
    return [...told, { role: "assistant", content: next_state }];
  });
}
