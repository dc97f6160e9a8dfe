import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { WorldModelRequest } from "@presage/sdk";

/** What an environment really did. */
export interface Transition extends Pick<WorldModelRequest, "context" | "interaction"> {
  /** The environment's name. */
  environment: string;
  /** The transition's name in its file. */
  sampleId: string;
  nextState: string;
}

/** The transitions of a JSONL file, or of every one in a folder: lines with `interaction`, `next_state` and perhaps `context`. */
export async function readTransitions(path: string): Promise<Transition[]> {
  const files = path.endsWith(".jsonl")
    ? [path]
    : (await readdir(path)).filter((name) => name.endsWith(".jsonl")).map((name) => join(path, name));
  const perFile = await Promise.all(files.sort().map(readFile));
  return perFile.flat();
}

async function readFile(file: string): Promise<Transition[]> {
  const [environment = "transitions"] = basename(file).split(".");
  const lines = (await Bun.file(file).text()).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, index) => {
    const { id, trajectory_id, step, context, interaction, next_state } = JSON.parse(line);
    const sampleId = id ?? (trajectory_id === undefined ? `line ${index + 1}` : `${trajectory_id} #${step}`);
    return { environment, sampleId, context, interaction, nextState: next_state };
  });
}
