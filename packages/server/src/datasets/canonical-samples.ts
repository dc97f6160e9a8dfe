import { createHash } from "node:crypto";
import type { Context } from "@presage/contract";
import type { ReadSample } from "./formats.ts";

/** A text that samples share: a context, or a message behind the messages before it. */
export interface Part {
  digest: string;
  previous: string | null;
  /** JSON. */
  text: string;
}

/** A sample as it is stored. Its parts and its body are the line that is exported. */
export interface CanonicalSample {
  sample_id: string;
  trajectory_id: string;
  step: number;
  /** A context, or all messages. */
  parts: readonly Part[];
  /** JSON: the line's fields after the parts. */
  body: string;
}

const interactionFirst = '{"interaction":';
const contextFields = [
  "environment_state",
  "task_context",
  "tool_schemas",
  "domain_knowledge",
  "steering_directives",
] as const satisfies (keyof Context)[];

/**
 * Gives samples their one form: fields in a fixed order, none that is null, tags by name. The messages that a sample shares with
 * the one before it are not made again.
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
