import { cpus, loadavg, release, totalmem, type } from "node:os";
import rootPackage from "../../package.json" with { type: "json" };
import { portkeyPackageDirectory, rootDirectory } from "../paths.ts";

export interface MachineDescription {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  /** Load average before the run. Well above 0 means that the machine was busy with something else. */
  readonly loadBefore: number;
  readonly versions: Readonly<Record<string, string | undefined>>;
}

/** Undefined too where the program is not there: not every part needs each. */
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
