import { appendFileSync } from "node:fs";
import { SingleBar } from "cli-progress";
import { pMapIterable } from "p-map";
import type { Output } from "./file-options.ts";
import { digestOf, keepFinishedLines, lineId, type OutputLine } from "./output-lines.ts";
import { printNotice } from "./print-notice.ts";
import { type NumberedLine, readLines } from "./read-lines.ts";

export interface ProcessLinesOptions<Line extends OutputLine> {
  file: string;
  output: Output;
  /** Maximum lines in progress. */
  concurrency: number;
  /** What the output lines contain, in the plural: "predictions". */
  noun: string;
  /** Whether a line that an earlier run wrote need not be processed again. */
  isFinished(line: OutputLine): line is Line;
  /** Rejects only where no further line can succeed; otherwise a failure is a line like any other. */
  process(input: NumberedLine, digest: string): Promise<Line>;
  /** Receives the lines of this run and of earlier ones, in the input's order. */
  onLine(line: Line): void;
}

export interface Progress {
  /** Lines that this run processed; earlier runs finished the others. */
  processed: number;
  elapsedMs: number;
}

/** Processes each line of a file and writes the outcomes in the file's order. A later run resumes where this one stopped. */
export async function processLines<Line extends OutputLine>({
  file,
  output,
  concurrency,
  noun,
  isFinished,
  process: processLine,
  onLine,
}: ProcessLinesOptions<Line>): Promise<Progress> {
  const inputIds = await readIds(file);
  const path = typeof output === "object" ? output.path : undefined;
  const finished =
    path === undefined
      ? new Map<string, Line>()
      : await keepFinishedLines(path, { inputIds, noun, isFinished });
  const write = (text: string) => {
    if (path !== undefined) appendFileSync(path, text);
    else if (output === "stdout") process.stdout.write(text);
  };
  const sharesTerminal = output === "stdout" && process.stdout.isTTY;
  const bar = sharesTerminal ? undefined : startProgressBar(inputIds.size, noun, path !== undefined);
  const startedAtMs = performance.now();
  let processed = 0;

  const lines = pMapIterable(
    readLines(file),
    async (input) => {
      const digest = digestOf(input.text);
      const earlier = finished.get(lineId(input.number, digest));
      return { line: earlier ?? (await processLine(input, digest)), isNew: earlier === undefined };
    },
    { concurrency, backpressure: concurrency * 4 },
  );
  for await (const { line, isNew } of lines) {
    if (isNew) {
      write(`${JSON.stringify(line)}\n`);
      processed += 1;
    }
    onLine(line);
    bar?.increment();
  }
  bar?.stop();
  return { processed, elapsedMs: performance.now() - startedAtMs };
}

async function readIds(file: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { number, text } of readLines(file)) ids.add(lineId(number, digestOf(text)));
  return ids;
}

/** 128 plus the number of SIGINT, as shells report it. */
const interruptedExitCode = 130;

/** Shows a progress bar if standard error is a terminal. */
function startProgressBar(total: number, noun: string, resumes: boolean): SingleBar | undefined {
  if (!process.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: `{bar} {value}/{total} ${noun}, {eta_formatted} left`,
    etaBuffer: 100,
  });
  bar.start(total, 0);
  // The bar changes the terminal's settings; Ctrl-C must restore them.
  process.once("SIGINT", () => {
    bar.stop();
    printNotice(
      resumes
        ? "Stopped. The same command resumes where it stopped."
        : "Stopped. With --out FILE, the same command could resume where it stopped.",
    );
    process.exit(interruptedExitCode);
  });
  return bar;
}
