import { existsSync } from "node:fs";
import { benchDirectory, portkeyPackageDirectory } from "../paths.ts";

/** Installs it from bench/package-lock.json on the first run. Its install scripts only patch files for its developers. */
export const installPortkey = async (): Promise<void> => {
  if (existsSync(portkeyPackageDirectory)) return;
  process.stdout.write("Installing Portkey's gateway under bench/ ...\n");
  const install = Bun.spawn(["npm", "ci", "--ignore-scripts", "--workspaces=false"], {
    cwd: benchDirectory,
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await install.exited) !== 0) throw new Error("npm ci in bench/ failed; see above");
};
