import type { AnsweringWorld, PromptMessage, StoredWorld, WorldExplanation } from "@presage/contract";
import { UpstreamError } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Deployments } from "../upstream/deployments.ts";
import { isUnserved } from "../upstream/replicas.ts";
import type { Complete, UpstreamCompletion } from "../upstream/upstream.ts";
import { adaptAnswer } from "./adapt-answer.ts";
import { type ChosenExamples, chooseExamples, type ExampleServices } from "./examples.ts";
import { type Asked, composeTurns, type ReadyWorld, type ShownExample } from "./world.ts";

/** Finds what a world asks among the deployments. */
export function findIn(
  deployments: Pick<Deployments, "find" | "getDefault">,
): WorldServices["findDeployment"] {
  return (name) => {
    const found = name === undefined ? deployments.getDefault() : deployments.find(name);
    return found && { name: found.name, complete: found.upstream.complete };
  };
}

/** A completion, which world it is of, what was sent, and the examples in it. */
export interface WorldCompletion extends UpstreamCompletion {
  world: AnsweringWorld;
  messages: PromptMessage[];
  explain: WorldExplanation;
  /** The texts of the explained examples. */
  shown: readonly ShownExample[];
}

export interface WorldServices extends ExampleServices {
  reader: Database;
  /** Undefined: there is no such deployment; without a name, the default. */
  findDeployment(name: string | undefined): { name: string; complete: Complete } | undefined;
}

/**
 * The same as an upstream's `complete`, but the request's messages are those of the world: its system turn, the examples for what
 * is `asked`, and that.
 */
export function completeThroughWorld(
  services: WorldServices,
  world: ReadyWorld,
  asked: Asked,
): (...call: Parameters<Complete>) => Promise<WorldCompletion> {
  return async (request, signal, options) => {
    const choose = (by: Asked) => chooseExamples(services, services.reader, world, by, signal);
    const { model } = world.config;
    const ofStep = { ...asked, conversation: undefined };
    if (model && "kind" in model) return completeFromRecords(world, ofStep, await choose(ofStep));
    const chosen = await choose(asked);
    const deployment = services.findDeployment(model?.deployment ?? undefined);
    if (deployment === undefined)
      throw new UpstreamError(
        "unavailable",
        `There is no deployment ${model?.deployment}, which the world asks.`,
      );
    const send = async ({ examples, explain }: ChosenExamples): Promise<WorldCompletion> => {
      const messages = composeTurns(world, asked, examples);
      const completion = await deployment.complete({ ...request, messages }, signal, options);
      const answering = toAnswering(world, completion.deployment);
      return { ...completion, world: answering, messages, explain, shown: examples };
    };
    try {
      return await send(chosen).catch((error: unknown) => {
        if (!isOverlong(error) || chosen.examples.length === 0) throw error;
        return send(halved(chosen));
      });
    } catch (error) {
      if (model?.fallback !== "retrieval" || !isUnserved(error)) throw error;
      return completeFromRecords(world, ofStep, asked.conversation ? await choose(ofStep) : chosen);
    }
  };
}

/** What is kept of a world's prediction, to tell what misled it. */
export function toStoredWorld({ world, explain }: Pick<WorldCompletion, "world" | "explain">): StoredWorld {
  const examples = explain.examples.map(({ dataset_sample_id, trajectory_id, similarity }) => ({
    dataset_sample_id,
    trajectory_id,
    similarity,
  }));
  return { ...world, examples };
}

/** Sampling through a world: a request's own fields win over its. It samples nothing unless one of them says so. */
export function paramsThrough(
  { config: { model } }: Pick<ReadyWorld, "config">,
  params: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, unknown> {
  return { temperature: 0, ...(model && "kind" in model ? {} : model?.params), ...params };
}

/** What answers where no deployment does. */
export const recordsName = "retrieval";

function toAnswering({ name, revision }: ReadyWorld, answeredBy: string): AnsweringWorld {
  return { name, revision, answered_by: answeredBy };
}

function isOverlong(error: unknown): boolean {
  return error instanceof UpstreamError && error.category === "context_exceeded";
}

/** The more similar half. */
function halved({ examples, explain, query }: ChosenExamples): ChosenExamples {
  const half = Math.floor(examples.length / 2);
  return {
    query,
    examples: examples.slice(0, half),
    explain: { ...explain, examples: explain.examples.slice(0, half), reduced: true },
  };
}

/** What the records alone answer; undefined if no example is similar. */
export function answerFromRecords(
  { config: { model } }: Pick<ReadyWorld, "config">,
  { examples: [nearest], query }: ChosenExamples,
): string | undefined {
  if (nearest === undefined) return undefined;
  const isNearest = model && "kind" in model && model.answer === "nearest";
  return isNearest ? nearest.nextState : adaptAnswer(query.action, nearest);
}

/** Without an example, the state is the answer. */
function completeFromRecords(world: ReadyWorld, asked: Asked, chosen: ChosenExamples): WorldCompletion {
  const content = answerFromRecords(world, chosen) ?? chosen.query.state;
  const deployment = recordsName;
  const body = {
    id: `chatcmpl-${Bun.randomUUIDv7()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: `${world.name}@${world.revision}`,
    choices: [
      { index: 0, message: { role: "assistant", content }, finish_reason: "stop", logprobs: null },
    ] satisfies [unknown],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
  return {
    bytes: new TextEncoder().encode(JSON.stringify(body)),
    body: body as WorldCompletion["body"],
    deployment,
    model: body.model,
    world: toAnswering(world, deployment),
    messages: composeTurns(world, asked, chosen.examples),
    explain: chosen.explain,
    shown: chosen.examples,
  };
}
