import { existsSync } from "node:fs";
import { appendFile, rename, writeFile } from "node:fs/promises";
import { lineId, type OutputLine } from "./predict-line.ts";
import { readLines } from "./read-lines.ts";

/**
 * Reads what an earlier run wrote and leaves only its finished lines in the file, as far as they are still wanted, so
 * that lines that failed, were cut off or have changed are asked again and every input line ends up there once.
 */
export async function keepFinishedLines(
  path: string,
  wanted: ReadonlySet<string>,
): Promise<Map<string, OutputLine>> {
  const finished = new Map<string, OutputLine>();
  if (!existsSync(path)) return finished;
  const kept = `${path}.kept`;
  await writeFile(kept, "");
  for await (const { text } of readLines(path)) {
    const line = parse(text);
    if (line?.prediction === undefined) continue;
    const id = lineId(line.line, line.digest);
    if (!wanted.has(id) || finished.has(id)) continue;
    finished.set(id, line);
    await appendFile(kept, `${text}\n`);
  }
  await rename(kept, path);
  return finished;
}

function parse(text: string): OutputLine | undefined {
  try {
    return JSON.parse(text) as OutputLine;
  } catch {
    return undefined;
  }
}
