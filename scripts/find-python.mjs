import { spawnSync } from "node:child_process";

export const withoutPython =
  "There is no Python from 3.10 on with venv. Run apt-get install python3-venv on Debian.";

/** A Python that can build the client, or undefined. */
export function findPython() {
  const check = "import sys, venv, ensurepip; assert sys.version_info >= (3, 10)";
  return ["python3", "/usr/bin/python3", "python"].find(
    (python) => spawnSync(python, ["-c", check], { stdio: "ignore" }).status === 0,
  );
}
