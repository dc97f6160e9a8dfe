import { afterAll, beforeAll } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startUpstream, type TestUpstream } from "../upstream/upstream.ts";
import { startPresage, type TestPresage } from "./presage.ts";
import { type Ran, runPresage } from "./run-presage.ts";

export interface EvaluateCommand {
  /** A server on the command's database. */
  presage: TestPresage;
  upstream: TestUpstream;
  databaseUrl: string;
  /** Writes lines to a new file and returns its path. */
  fileOf(lines: unknown[]): Promise<string>;
  /** Runs the command on the database of the server. */
  evaluate(file: string, ...more: string[]): Promise<Ran>;
}

/** `presage evaluate` on an SQLite file, and a server that shows what it stored, for the tests of this block. */
export function useEvaluateCommand(): EvaluateCommand {
  const command = {} as EvaluateCommand;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "presage-evaluate-"));
    const databaseUrl = `sqlite:${join(directory, "presage.db")}`;
    const upstream = startUpstream();
    const environment = { PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_DATABASE_URL: databaseUrl };
    Object.assign(command, {
      presage: await startPresage(environment),
      upstream,
      databaseUrl,
      async fileOf(lines: unknown[]) {
        const path = join(directory, `${crypto.randomUUID()}.jsonl`);
        await Bun.write(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
        return path;
      },
      evaluate: (file: string, ...more: string[]) =>
        runPresage(["evaluate", "--file", file, ...more], environment),
    });
  });
  afterAll(async () => {
    await command.presage.stop();
    await command.upstream.stop();
    await rm(directory, { recursive: true });
  });
  return command;
}

/** A line with an output and the gold answer. */
export const sampleLine = (output: string, gold: string) => ({
  evaluated_model_output: output,
  evaluated_model_gold_answer: gold,
});
