import { tmpdir } from "node:os";
import { presageCommand } from "./main-file.ts";

export interface RanInTerminal {
  code: number;
  /** The screen's contents at the end, without colours or overwritten lines. */
  lines: string[];
}

/** Runs a `presage` command in a pseudo-terminal of 80 columns until it exits. */
export async function runInTerminal(
  args: string[],
  environment: Record<string, string>,
): Promise<RanInTerminal> {
  const decoder = new TextDecoder();
  let written = "";
  const child = Bun.spawn([...presageCommand, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", ...environment },
    terminal: {
      cols: 80,
      rows: 24,
      data(_, bytes) {
        written += decoder.decode(bytes, { stream: true });
      },
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  const lines = Bun.stripANSI(written)
    .split(/\r?\n/)
    .map((line) => line.split("\r").at(-1) ?? "");
  return { code, lines };
}
