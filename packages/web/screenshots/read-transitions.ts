import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { WorldModelRequest } from "@presage/sdk";

/** A recorded step of an environment. */
export interface Transition extends Pick<WorldModelRequest, "context" | "interaction"> {
  /** The environment's name. */
  environment: string;
  /** The transition's name in its file. */
  sampleId: string;
  nextState: string;
  /** Absent: the file does not say which steps follow each other. */
  trajectory?: { trajectory_id: string; step: number };
}

/** Reads a JSONL file, or all in a folder: lines with `interaction`, `next_state` and optionally `context`. */
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
    const trajectory = trajectory_id === undefined ? {} : { trajectory: { trajectory_id, step } };
    return { environment, sampleId, context, interaction, nextState: next_state, ...trajectory };
  });
}
