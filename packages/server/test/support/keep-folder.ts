import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** The folder that lasts from run to run. */
export const cache = join(import.meta.dir, "../../../../node_modules/.cache/presage-tests");

/** The folder that `make` fills, unless it was made before for the same contents. */
export async function keepFolder(
  contents: unknown,
  make: (draft: string) => Promise<unknown>,
): Promise<string> {
  const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify(contents)).digest("hex");
  const folder = join(cache, digest.slice(0, 16));
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  // Another test may make the same one now: whichever is complete first is kept.
  const draft = await mkdtemp(join(cache, "draft-"));
  try {
    await make(draft);
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** The folder that `make` makes of packages. If they cannot be fetched: says so and is undefined; in CI, where no test is skipped, throws. */
export async function unlessUnavailable(
  packages: readonly string[],
  make: () => Promise<string>,
): Promise<string | undefined> {
  try {
    return await make();
  } catch (error) {
    if (process.env.CI) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`Tests with the packages ${packages.join(", ")} are skipped: ${reason}\n`);
    return undefined;
  }
}

/** A command's output. Throws with the end of its errors if it fails. */
export async function outputOf(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 0) return stdout;
  throw new Error(`${command.slice(0, 4).join(" ")} failed: ${stderr.slice(-1_000)}`);
}
