import { mainFile } from "./main-file.ts";
import { testKey } from "./presage.ts";

/** The shell commands of a page of the documentation. */
export function blocksOf(markdown: string): string {
  return [...markdown.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = ""]) => block).join("\n");
}

export interface RanBlocks {
  code: number;
  stdout: string;
  stderr: string;
  /** All output, if a call failed. */
  failure: string;
}

/** Runs blocks one after the other, up to the first call that fails. */
export async function runBlocks(
  { url }: { url: string },
  blocks: string,
  { folder, apiKey = testKey }: { folder: string; apiKey?: string },
): Promise<RanBlocks> {
  const script = blocks
    .replaceAll("/tmp/", `${folder}/`)
    .replaceAll("http://127.0.0.1:8080", url)
    .replaceAll("npx presage", `${process.execPath} ${mainFile}`);
  const child = Bun.spawn(["bash", "-euo", "pipefail", "-c", script], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", PRESAGE_API_KEY: apiKey },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr, failure: code === 0 ? "" : stdout + stderr };
}
