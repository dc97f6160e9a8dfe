import { tmpdir } from "node:os";
import { mainFile } from "./main-file.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a `presage` command in a separate process until it exits. */
export async function runPresage(args: string[], environment: Record<string, string>): Promise<Ran> {
  const child = Bun.spawn([process.execPath, mainFile, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
