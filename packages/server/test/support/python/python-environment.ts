import { join } from "node:path";
import { cache, keepFolder, outputOf, unlessUnavailable } from "../keep-folder.ts";

/** Where Python keeps compiled files: not next to the sources. */
export const PYTHONPYCACHEPREFIX = join(cache, "pyc");

const candidates = ["python3", "/usr/bin/python3"];
const check = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10); print(sys.version)";

/**
 * The Python of a virtual environment with these packages, as `pip install` names them, then some without their dependencies. It is
 * made once and kept. Undefined if it cannot be made.
 */
export function pythonEnvironment(
  packages: readonly string[],
  alone: readonly string[] = [],
): Promise<string | undefined> {
  return unlessUnavailable([...packages, ...alone], () => findOrMake(packages, alone));
}

async function findOrMake(packages: readonly string[], alone: readonly string[]): Promise<string> {
  const [base, version] = await findPython();
  const environment = await keepFolder([version, packages, alone], async (draft) => {
    // Installing pip takes a third of an environment's processor time, so one pip serves them all.
    const pip = await keepFolder([version], (folder) => outputOf(base, "-m", "venv", folder));
    await outputOf(base, "-m", "venv", "--without-pip", draft);
    const python = [pythonOf(pip), "-m", "pip", "--python", pythonOf(draft)];
    // Most of the compiled code would never be imported.
    const install = [...python, "install", "--quiet", "--no-compile", "--disable-pip-version-check"];
    await outputOf(...install, ...packages);
    if (alone.length > 0) await outputOf(...install, "--no-deps", ...alone);
  });
  return pythonOf(environment);
}

function pythonOf(environment: string): string {
  return join(environment, "bin/python");
}

/** A Python that can make virtual environments, and its version. */
async function findPython(): Promise<[python: string, version: string]> {
  for (const python of candidates) {
    if (Bun.which(python) === null) continue;
    const version = await outputOf(python, "-c", check).catch(() => undefined);
    if (version !== undefined) return [python, version];
  }
  throw new Error("no Python from 3.10 on with venv was found (Debian: apt-get install python3-venv).");
}
