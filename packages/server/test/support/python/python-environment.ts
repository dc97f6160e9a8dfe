import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

const cache = join(import.meta.dir, "../../../../../node_modules/.cache/presage-python");
const candidates = ["python3", "/usr/bin/python3"];
const check = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(sys.version)";

/**
 * The Python of a virtual environment with these packages, as `pip install` names them, and then some without what they depend on. It is
 * made once and kept. Where it cannot be had it is undefined, which is said; in CI, where no test is skipped, it is an error.
 */
export async function pythonEnvironment(
  packages: readonly string[],
  alone: readonly string[] = [],
): Promise<string | undefined> {
  try {
    return await findOrMake(packages, alone);
  } catch (error) {
    if (process.env.CI) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      `Tests with the Python packages ${[...packages, ...alone].join(", ")} are skipped: ${reason}\n`,
    );
    return undefined;
  }
}

async function findOrMake(packages: readonly string[], alone: readonly string[]): Promise<string> {
  const [base, version] = await findPython();
  return await keep(JSON.stringify([version, packages, alone]), async (draft) => {
    // Making a pip takes a third of the processor time of an environment, so one serves them all.
    const pip = await keep(JSON.stringify([version]), (folder) => run(base, "-m", "venv", folder));
    await run(base, "-m", "venv", "--without-pip", draft);
    const install = [pip, "-m", "pip", "--python", join(draft, "bin/python"), "install", "--quiet"];
    await run(...install, ...packages);
    if (alone.length > 0) await run(...install, "--no-deps", ...alone);
  });
}

/** The Python of what `make` makes in a folder, unless it was made before. */
async function keep(contents: string, make: (draft: string) => Promise<unknown>): Promise<string> {
  const digest = new Bun.CryptoHasher("sha256").update(contents).digest("hex");
  const directory = join(cache, digest.slice(0, 16));
  const python = join(directory, "bin/python");
  if (existsSync(python)) return python;
  await mkdir(cache, { recursive: true });
  // Another test may make the same one now: whichever is complete first is kept.
  const draft = await mkdtemp(join(cache, "draft-"));
  try {
    await make(draft);
    await rename(draft, directory).catch((error: unknown) => {
      if (!existsSync(python)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return python;
}

/** A Python that can make virtual environments, and its version. */
async function findPython(): Promise<[python: string, version: string]> {
  for (const python of candidates) {
    if (Bun.which(python) === null) continue;
    const version = await run(python, "-c", check).catch(() => undefined);
    if (version !== undefined) return [python, version];
  }
  throw new Error("no Python from 3.10 on with venv was found (Debian: apt-get install python3-venv).");
}

async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 0) return stdout;
  throw new Error(`${command.slice(0, 4).join(" ")} failed: ${stderr.slice(-1_000)}`);
}
