import { LineError } from "../../../upload/lines.ts";
import { isObject, type LeftOut, numberIn, textIn } from "../../content.ts";
import {
  type At,
  eachDocument,
  type Layout,
  objectAt,
  objectsIn,
  optionalObjectsIn,
  type TraceDocument,
} from "../../layout.ts";
import {
  idIn,
  type MessageFacts,
  rewardIn,
  turnsOfMessage,
  usageIn,
  withTaggedCalls,
} from "../../messages.ts";
import type { Trace } from "../../turns.ts";

const areMessages = (value: unknown) => typeof value === "string" || Array.isArray(value);

/** The fields of a row that hold the earlier messages and the model's; verl has other names. */
function rowFields(value: Record<string, unknown>): [string, string] | undefined {
  if ("messages" in value || Array.isArray(value.nodes)) return undefined;
  if (areMessages(value.prompt) && areMessages(value.completion)) return ["prompt", "completion"];
  const isDump = areMessages(value.input) && areMessages(value.output) && "score" in value && "gts" in value;
  return isDump ? ["input", "output"] : undefined;
}

function recognises({ value }: TraceDocument): string | undefined {
  if (!isObject(value)) return undefined;
  if (Array.isArray(value.nodes) && isObject(value.task)) {
    const [first] = value.nodes;
    if (first === undefined || (isObject(first) && "message" in first)) return "nodes of messages, and task";
  }
  return rowFields(value)?.join(" and ");
}

/** The numbers of the longest branch's nodes, from the root; the first of several equally long branches. */
function longestBranch(parents: readonly (number | undefined)[]): number[] {
  const lengths: number[] = [];
  for (const parent of parents) lengths.push(1 + (parent === undefined ? 0 : (lengths[parent] ?? 0)));
  const branch: number[] = [];
  // Only a leaf can end a longest branch.
  let at: number | undefined = lengths.indexOf(lengths.reduce((one, other) => Math.max(one, other), 0));
  for (; at !== undefined && at >= 0; at = parents[at]) branch.push(at);
  return branch.reverse();
}

function parentOf({ value, path }: At, place: number): number | undefined {
  const { parent } = value;
  if (parent === null || parent === undefined) return undefined;
  if (typeof parent === "number" && Number.isInteger(parent) && parent >= 0 && parent < place) return parent;
  throw new LineError("Input should be the number of an earlier node", [...path, "parent"]);
}

const usageNames = {
  prompt_tokens: "prompt_tokens",
  completion_tokens: "completion_tokens",
  cached_tokens: "cached_input_tokens",
  cost_usd: "cost",
};

/** The usage of the call that made each node; the last call if there were several. */
function factsByNode(document: At): Map<unknown, MessageFacts> {
  return new Map(
    optionalObjectsIn(document, "calls").map(({ value }) => {
      const usage = usageIn(value.usage, usageNames);
      // Tokens read from a cache are counted separately.
      if (usage?.prompt_tokens !== undefined) usage.prompt_tokens += usage.cached_tokens ?? 0;
      return [value.node, { usage, model: textIn(value, "model") }];
    }),
  );
}

function traceOfGraph(document: At, leftOut: LeftOut): Trace {
  const { value } = document;
  const nodes = objectsIn(document, "nodes");
  const branch = longestBranch(nodes.map(parentOf));
  leftOut.count("branch", nodes.length - branch.length);
  const facts = factsByNode(document);
  const wasCut = value.is_timeout === true || textIn(value, "stop_condition")?.startsWith("max_");
  const { agent, task } = value;
  return {
    id: textIn(value, "id"),
    turns: branch.flatMap((place) => {
      const { value: node, path } = nodes[place] as At;
      return turnsOfMessage(node.message, [...path, "message"], leftOut, () => facts.get(place) ?? {});
    }),
    tools: value.tools,
    reward: sumOf(value.rewards),
    isDone: value.is_completed === true && wasCut !== true,
    tags: {
      agent: textIn(agent, "name"),
      model: isObject(agent) ? textIn(agent.config, "model") : undefined,
      task: textIn(task, "key"),
    },
  };
}

function sumOf(rewards: unknown): number | undefined {
  const told = Object.values(isObject(rewards) ? rewards : {}).flatMap((reward) => {
    const score = numberIn(reward, "score");
    return score === undefined ? [] : [score * (numberIn(reward, "weight") ?? 1)];
  });
  const sum = told.reduce((sum, one) => sum + one, 0);
  return told.length > 0 && Number.isFinite(sum) ? sum : undefined;
}

function traceOfRow({ value }: At, [prompt, completion]: [string, string], leftOut: LeftOut): Trace {
  const turnsIn = (name: string, role: string) => {
    const said = value[name];
    const messages = typeof said === "string" ? [{ role, content: said }] : (said as unknown[]);
    return messages.flatMap((message, index) => turnsOfMessage(message, [name, index], leftOut));
  };
  const wasCut = value.is_timeout === true || value.is_truncated === true;
  return {
    id: idIn(value),
    turns: withTaggedCalls([...turnsIn(prompt, "user"), ...turnsIn(completion, "assistant")]),
    tools: value.tools,
    reward: rewardIn(value),
    isDone: value.is_completed === true && !wasCut,
    tags: { task: idIn(value, ["example_id"]) },
  };
}

/** Rollouts of verifiers, and rows of a prompt and its completion. */
export const verifiers: Layout = {
  format: "verifiers",
  version: 2,
  about: {
    title: "verifiers' traces",
    recognised_by:
      "`nodes` of `{parent, message}` and `task`; or `prompt` and `completion` (old rows, TRL's; verl's `input`, `output` and `gts`)",
    trajectory: "a line; `id`; of several branches the one with most nodes",
    action: "`message.tool_calls[]` of the assistant; without calls, its text",
    answer: "the message of role `tool` with the call's id; after a text, the user's",
    context: "first user message; `tools`; system messages",
    also: "reward: Σ `rewards.*.score × weight`, or `reward`; done: `is_completed` and not cut short; usage by `calls[].node`",
    left_out: "other branches, reasoning, token ids, metrics",
    example: `{"id":"t1","task":{"type":"Keys","data":{}},"nodes":[{"parent":null,"message":{"role":"user","content":"Find the key."}},{"parent":0,"message":{"role":"assistant","tool_calls":[{"id":"c1","name":"shell","arguments":"{\\"cmd\\":\\"ls drawer\\"}"}]}},{"parent":1,"message":{"role":"tool","tool_call_id":"c1","content":"key.txt"}}],"rewards":{"found":{"score":1,"weight":1}},"is_completed":true}`,
  },
  recognises,
  open: eachDocument(function* ({ value }, { leftOut }) {
    const document = objectAt(value);
    const row = rowFields(document.value);
    yield { trace: row === undefined ? traceOfGraph(document, leftOut) : traceOfRow(document, row, leftOut) };
  }),
};
