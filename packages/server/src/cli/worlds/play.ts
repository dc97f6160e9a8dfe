import { createInterface } from "node:readline";
import type { Context, HistoryStep, World, WorldPreview, WorldPreviewRequest } from "@presage/contract";
import { readUserTurn } from "@presage/contract/compose-prompt";
import { PresageError } from "@presage/sdk";
import { ServiceError, UpstreamError } from "../../platform/errors.ts";
import { printable, printableJson, printableLines, shortened } from "../../platform/words.ts";
import { fieldsOf } from "../../worlds/world.ts";
import { CommandError, printNotice } from "../command.ts";
import type { RunConnection } from "../open-connection.ts";
import { findStart, withoutOwn } from "./samples.ts";

export interface PlayOptions {
  state?: string;
  sample?: string;
  explain?: boolean;
  json?: boolean;
}

/** Where a person is in the world. */
interface Scene {
  state: string;
  /** The action that was recorded at the scene's start. */
  recorded?: string | undefined;
  context?: Context | undefined;
  /** Excludes the trajectory that the scene begins in, and others of its task if the world says so, from the examples. */
  exclude?: WorldPreviewRequest["exclude"];
  history: HistoryStep[];
}

const maxHistory = 64;
/** Reads actions from standard input, and prints what a world answers, until the input ends. */
export async function playWorld(connection: RunConnection, world: World, options: PlayOptions) {
  const scene = await beginScene(connection, world, options);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (isTerminal) printNotice(`${world.name}@${world.revision}. Type an action; ctrl-D ends.\n`);
  printNotice(printableLines(scene.state));
  // Shows what actions look like.
  if (isTerminal && scene.recorded) printNotice(`\nRecorded here: ${short(scene.recorded)}`);
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal && { output: process.stdout, prompt: "\n> " }),
  });
  if (isTerminal) lines.prompt();
  for await (const line of lines) {
    const action = line.trim();
    if (action !== "") await act(connection, world, scene, { ...options, action, isTerminal });
    if (isTerminal) lines.prompt();
  }
  if (isTerminal) process.stdout.write("\n");
}

async function beginScene(
  connection: RunConnection,
  world: World,
  { state, sample: id }: PlayOptions,
): Promise<Scene> {
  if (state !== undefined && id !== undefined)
    throw new CommandError("--state cannot be combined with --sample");
  if (state !== undefined) return { state, history: [] };
  const { config, pinned } = world;
  const { examples } = pinned;
  if (examples === null) throw new CommandError("The world has no records to begin with: give --state.");
  const { dataset_id: dataset, revision } = examples;
  const sample = await findStart(connection, { dataset, revision }, id);
  const { state: first, task, action: recorded } = fieldsOf(sample);
  const context =
    sample.context ?? (task === "" || config.context?.task_context ? undefined : { task_context: task });
  printNotice(`It begins as ${printable(sample.dataset_sample_id)} did, whose trajectory is no example.`);
  return { state: first, recorded, context, exclude: withoutOwn(world, sample), history: [] };
}

/** The state after an answer without text, as imports write it. */
const noOutput = "(no output)";

/** Takes a step. After a failure a person may try again; a pipe ends. */
async function act(
  { call }: RunConnection,
  { name, revision }: World,
  scene: Scene,
  { action, explain = false, json, isTerminal }: PlayOptions & { action: string; isTerminal: boolean },
): Promise<void> {
  const { state, context, exclude, history } = scene;
  const world = `${name}@${revision}`;
  const request = {
    interaction: { state, action },
    history: history.slice(-maxHistory),
    ...(context !== undefined && { context }),
    ...(exclude && { exclude }),
  };
  try {
    const prediction = await call((client) => client.predict({ ...request, world, explain }));
    const { content } = prediction.response;
    if (json) process.stdout.write(`${printableJson({ action, ...prediction })}\n`);
    else process.stdout.write(`${printableLines(content)}\n`);
    const { confidence, abstained } = prediction;
    if (confidence !== undefined && !json)
      printNotice(
        `${confidence === null ? "not calibrated" : `confidence ${confidence.toFixed(2)}`}${abstained ? ", abstained" : ""}`,
      );
    if (explain && !json) {
      const preview = await call(({ worlds }) => worlds.preview(world, request));
      printNotice(describeExamples(preview).join("\n"));
    }
    scene.state = content.trim() === "" ? noOutput : content;
    history.push({ action, next_state: content });
  } catch (error) {
    const isOfCall = [PresageError, ServiceError, UpstreamError].some((kind) => error instanceof kind);
    if (!isTerminal || !isOfCall) throw error;
    printNotice(printable((error as Error).message));
  }
}

/** The examples of a prediction, the most similar first: their similarity, id and text. */
export function describeExamples({
  messages,
  explain,
}: Pick<WorldPreview, "messages" | "explain">): string[] {
  const { examples, left_out } = explain;
  if (examples.length === 0) return ["No example is similar."];
  // A preview has the turns of all examples.
  const turns = explain.reduced ? [] : turnsOf(messages, examples.length);
  const shown = examples.flatMap((example, index) => {
    const id = example.dataset_sample_id ?? `example ${index + 1}`;
    const text = turns[index];
    return [`${example.similarity.toFixed(3)}  ${printable(id)}`, ...(text ? [`       ${text}`] : [])];
  });
  const leftOut = Object.entries(left_out)
    .filter(([, count]) => count > 0)
    .map(([why, count]) => `${count} by ${why}`);
  return [...shown, ...(leftOut.length > 0 ? [`Left out: ${leftOut.join(", ")}`] : [])];
}

const mostShown = 70;

/** The texts of examples that are turns: they follow the system turn, the most similar last. */
function turnsOf(messages: WorldPreview["messages"], count: number): string[] {
  const [system, ...others] = messages;
  const turns = others.slice(0, 2 * count);
  if (turns.length < 2 * count || system?.content.includes("\n## RECORDED EXAMPLES\n")) return [];
  return Array.from({ length: count }, (_, index) => {
    const at = 2 * (count - 1 - index);
    const action = readUserTurn(turns[at]?.content ?? "")?.action ?? "";
    return `${short(action)} → ${short(turns[at + 1]?.content ?? "")}`;
  });
}

function short(text: string): string {
  return shortened(printable(text.trim().replaceAll(/\s+/g, " ")), mostShown);
}
