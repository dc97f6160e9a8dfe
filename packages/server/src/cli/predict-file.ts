import { appendFileSync } from "node:fs";
import { SingleBar } from "cli-progress";
import { pMapIterable } from "p-map";
import type { Predict } from "./predict.ts";
import { digestOf, lineId, type OutputLine, predictLine } from "./predict-line.ts";
import { keepFinishedLines } from "./predict-output.ts";
import { readLines } from "./read-lines.ts";

/** 128 and the number of SIGINT, as shells count. */
const interruptedExitCode = 130;

export interface PredictFileOptions {
  file: string;
  /** Absent: predictions go to standard output. */
  out: string | undefined;
  concurrency: number;
}

interface Tally {
  predicted: number;
  failed: number;
  /** Predictions whose true next state is known, and how many of them equal it. */
  comparable: number;
  exact: number;
}

/** Predicts every line of a file, in its order, and returns the number of failures. Finished lines are not asked again. */
export async function predictFile(
  predict: Predict,
  { file, out, concurrency }: PredictFileOptions,
): Promise<number> {
  const ids = await lineIds(file);
  const finished = out === undefined ? new Map<string, OutputLine>() : await keepFinishedLines(out, ids);
  const tally: Tally = { predicted: 0, failed: 0, comparable: 0, exact: 0 };
  const write = (text: string) =>
    out === undefined ? process.stdout.write(text) : appendFileSync(out, text);
  const progress = startProgress(ids.size);
  const startedAtMs = performance.now();
  let asked = 0;

  const results = pMapIterable(
    readLines(file),
    async ({ number, text }) => await predictLine(predict, number, text, finished),
    { concurrency, backpressure: concurrency * 4 },
  );
  for await (const { line, isNew } of results) {
    if (isNew) {
      write(`${JSON.stringify(line)}\n`);
      asked += 1;
    }
    count(tally, line);
    progress?.increment();
  }
  progress?.stop();
  process.stderr.write(summary(tally, asked, performance.now() - startedAtMs));
  return tally.failed;
}

async function lineIds(file: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { number, text } of readLines(file)) ids.add(lineId(number, digestOf(text)));
  return ids;
}

function startProgress(total: number): SingleBar | undefined {
  if (!process.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: "{bar} {value}/{total} predictions, {eta_formatted} to go",
    etaBuffer: 100,
  });
  bar.start(total, 0);
  // The bar changes the terminal's settings; Ctrl-C must give it back as it was.
  process.once("SIGINT", () => {
    bar.stop();
    process.stderr.write("Stopped. What is written stays, and the same command goes on from there.\n");
    process.exit(interruptedExitCode);
  });
  return bar;
}

function count(tally: Tally, line: OutputLine): void {
  if (line.prediction === undefined) tally.failed += 1;
  else tally.predicted += 1;
  if (line.exact_match === undefined) return;
  tally.comparable += 1;
  if (line.exact_match) tally.exact += 1;
}

function summary({ predicted, failed, comparable, exact }: Tally, asked: number, elapsedMs: number): string {
  const seconds = elapsedMs / 1000;
  const rate = `${asked} asked in ${seconds.toFixed(1)} s, ${(asked / seconds).toFixed(1)} a second`;
  const lines = [`${predicted} predictions, ${failed} failures (${rate})`];
  if (comparable > 0) {
    lines.push(
      `exact match: ${exact} of ${comparable} (${((100 * exact) / comparable).toFixed(1)} %), white space at the ends aside`,
    );
  }
  return `${lines.join("\n")}\n`;
}
