import { existsSync, readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import rootPackage from "../../package.json" with { type: "json" };
import { benchDirectory, portkeyPackageDirectory, rootDirectory } from "./processes.ts";

export interface MachineDescription {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  /** Load average before the run. Well above 0 means that the machine was busy with something else. */
  readonly loadBefore: number;
  readonly versions: Readonly<Record<string, string | undefined>>;
}

/** Also undefined if the program is not installed: not every part needs every program. */
const firstMatch = (argv: [string, ...string[]], pattern: RegExp): string | undefined => {
  if (Bun.which(argv[0]) === null) return undefined;
  const { stdout, stderr } = Bun.spawnSync(argv, { cwd: rootDirectory, stdout: "pipe", stderr: "pipe" });
  return pattern.exec(`${stdout}${stderr}`)?.[1];
};

export const describeMachine = async (): Promise<MachineDescription> => {
  const portkeyPackage = Bun.file(`${portkeyPackageDirectory}/package.json`);
  // Only installed by runs that measure it.
  const portkey: { version?: string } = (await portkeyPackage.exists()) ? await portkeyPackage.json() : {};
  const commit = firstMatch(["git", "rev-parse", "--short", "HEAD"], /^([0-9a-f]{7,})$/m);
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    loadBefore: loadavg()[0] ?? 0,
    versions: {
      Presage: commit === undefined ? rootPackage.version : `${rootPackage.version} (${commit})`,
      Bun: Bun.version,
      Node: firstMatch(["node", "--version"], /v(\S+)/),
      nginx: firstMatch(["nginx", "-v"], /nginx\/(\S+)/),
      wrk: firstMatch(["wrk", "-v"], /^wrk (\S+)/m),
      "Portkey's gateway": portkey.version,
    },
  };
};

/** Two sockets for each of 5,000 predictions, one to the client and one to the upstream, and some room. */
const openFilesNeeded = 12_000;

const openFilesLimit = (): number => {
  const limit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
};

/** Reasons why the bench cannot run here, one sentence each; empty if it can. */
export const findWhatIsMissing = (): string[] => {
  if (process.platform !== "linux" || !existsSync("/proc/self/smaps_rollup")) {
    return ["The bench reads processor time and memory from /proc; run it on Linux."];
  }
  const missing: string[] = [];
  const programs = ["nginx", "wrk"].filter((program) => Bun.which(program) === null);
  if (programs.length > 0) {
    missing.push(`Not installed: ${programs.join(", ")}. On Debian: apt-get install nginx-light wrk`);
  }
  if (Bun.which("node") === null || Bun.which("npm") === null) {
    missing.push("Not installed: node and npm, which Portkey's gateway needs.");
  }
  if (openFilesLimit() < openFilesNeeded) {
    missing.push(`At most ${openFilesLimit()} open files are allowed; run: ulimit -n ${openFilesNeeded}`);
  }
  return missing;
};

/** Installs the package from bench/package-lock.json on the first run. Its install scripts only patch files for its developers. */
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
