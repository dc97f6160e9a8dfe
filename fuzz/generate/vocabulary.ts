import type { Document, Schema } from "../document.ts";
import { type Draw, reference } from "./draw.ts";

/** What the server reports at the start, used to make requests that get past the first check. */
export interface Served {
  evaluators: string[];
  families: { name: string; configSchema: Schema }[];
  /** Names of built-in profiles. */
  profileNames: string[];
}

const samples = [
  "The door is open.",
  "the door is open",
  "You move to the kitchen. In it you see: a stove, a sink.",
  "42",
  "3.14159 and 2.71828",
  '{"a":1,"b":[true,null]}',
  '<tool_response>{"a":1}</tool_response>',
  "<think>hm</think>yes",
  "Write to ada@example.com or call +44 20 7946 0958.",
  "",
];

/** Meaningful texts by field. */
const words: Record<string, readonly string[]> = {
  app: ["default", "app-1", "app-2"],
  name: [...Array.from({ length: 200 }, (_, number) => `name ${number}`), "system:is-concise"],
  error_taxonomy_name: [...Array.from({ length: 30 }, (_, number) => `taxonomy ${number}`), "system:unknown"],
  label: ["production", "staging"],
  labels: ["production", "staging", "old"],
  role: ["system", "user", "assistant"],
  model: ["sandbox"],
  dataset_id: ["d-1", "d-2"],
  dataset_sample_id: ["s-1", "s-2"],
  evaluation_run_id: ["r-1"],
  "Idempotency-Key": ["again", "once-more"],
  tags: ['{"a":"1"}', "{}"],
  evaluated_model_input: samples,
  evaluated_model_output: samples,
  evaluated_model_gold_answer: samples,
  env: ["sandbox"],
  env_name: ["sandbox", "Sandbox", "nowhere"],
  environment: ["sandbox"],
  "X-Deployment": ["sandbox", "somebody/sandbox"],
  action: ["look around", "activate lantern", "open door", ""],
  message: ["look around", "activate lantern", "open door", ""],
  input: samples,
  output: samples,
  text: samples,
};

/** Kinds of references by field. */
const referenceKinds: Record<string, Parameters<typeof reference>[1]> = {
  key_id: "apiKey",
  api_key_id: "apiKey",
  session_id: "session",
  public_id: "profile",
  evaluator_profile_public_id: "profile",
  profile_name: "profileName",
  criterion_profile_name: "profileName",
  evaluator_profile_name: "profileName",
  criteria: "profileName",
  revision_id: "revision",
  error_taxonomy_id: "taxonomy",
  episode_id: "episode",
  "X-Session-ID": "orsSession",
  task_id: "orsTask",
};

/** A meaningful text for a field of this name, or undefined if none is known. */
export function meaningfulText(draw: Draw, name: string, served: Served): string | undefined {
  if (name === "evaluator" || name === "evaluator_id") return draw.pick(served.evaluators);
  if (name === "evaluator_family") return draw.pick(served.families).name;
  if (name.endsWith("profile_name") && draw.chance(0.3)) return draw.pick(served.profileNames);
  const kind = referenceKinds[name];
  if (kind !== undefined) return reference(draw, kind);
  const known = words[name];
  return known === undefined ? undefined : draw.pick(known);
}

const limitNames = /^(exclusive)?(min|max)/i;
/** Larger limits would make bodies of megabytes, which have tests of their own. */
const largest = 200_000;

/** Every limit in the document, because bugs are common near limits. */
export function collectLimits(document: Document): number[] {
  const limits = new Set([0, 1, 1_000]);
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      if (typeof part === "number" && limitNames.test(name) && Number.isInteger(part)) {
        if (part <= largest) limits.add(part);
      } else collect(part);
    }
  };
  collect(document.schemas);
  collect(document.operations.map(({ parameters }) => parameters));
  return [...limits];
}
