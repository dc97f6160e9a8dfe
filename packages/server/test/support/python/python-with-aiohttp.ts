import process from "node:process";

const candidates = ["python3", "/usr/bin/python3"];

/** A Python 3 with aiohttp; undefined if there is none. */
export const pythonWithAiohttp = candidates.find(hasAiohttp);

if (pythonWithAiohttp === undefined) {
  process.stderr.write(
    "The test of examples/rollouts.py is skipped: no Python 3 with aiohttp was found (Debian: apt-get install python3-aiohttp).\n",
  );
}

function hasAiohttp(python: string): boolean {
  if (Bun.which(python) === null) return false;
  return Bun.spawnSync([python, "-c", "import aiohttp"], { stderr: "ignore" }).success;
}
