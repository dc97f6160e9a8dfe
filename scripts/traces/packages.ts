import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "../../packages/server/test/support/keep-folder.ts";
import { startPresage, testKey } from "../../packages/server/test/support/presage/presage.ts";
import { runPresage } from "../../packages/server/test/support/presage/run-presage.ts";
import { pythonEnvironment } from "../../packages/server/test/support/python/python-environment.ts";

const needed = "import sys; assert sys.version_info >= (3, 12); print(sys.executable)";
const environment = [
  `PYTHONPATH=${join(import.meta.dir, "../../clients/python/src")}`,
  "PYTHONDONTWRITEBYTECODE=1",
  // OpenHands prints a banner, and one of its dependencies fetches prices.
  "OPENHANDS_SUPPRESS_BANNER=1",
  "LITELLM_LOCAL_MODEL_COST_MAP=True",
];

/** A server, the command line that uses it, and Python with packages, always in their newest versions. */
export async function startCheck() {
  const uvPython = await pythonEnvironment(["uv==0.13.9"]);
  if (uvPython === undefined) process.exit(1);
  const found = await findPython();
  if (found === undefined)
    process.stdout.write("There is no Python from 3.12 on, which some packages need.\n");
  const uv = uvPython.replace(/python$/, "uv");
  const server = await startPresage({});
  const folder = await mkdtemp(join(tmpdir(), "presage-check-"));
  const run = [
    uv,
    "run",
    "--quiet",
    "--no-project",
    "--python",
    found ?? uvPython,
    "--env-file",
    join(folder, "env"),
  ];
  await Bun.write(join(folder, "env"), environment.join("\n"));
  let exitCode = 0;

  return {
    /** A file that lasts for the check. */
    file: (name: string) => join(folder, name),
    /** A command's output. Throws with its message if it fails. */
    async presage(command: string, ...args: string[]): Promise<string> {
      const words = command.replace("SERVER", `--server ${server.url}`).split(" ");
      const { code, stdout, stderr } = await runPresage([...words, ...args], { PRESAGE_API_KEY: testKey });
      if (code !== 0) throw new Error(`presage ${command}: ${stderr}`);
      return stdout;
    },
    /** The server's response to a GET. */
    async get(path: string): Promise<string> {
      const answer = await fetch(server.url + path, { headers: { "x-api-key": testKey } });
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
      return await answer.text();
    },
    /** Python's output, with packages as `pip install` names them. */
    python: (packages: string, ...args: string[]) =>
      outputOf(...run, ...packages.split(" ").flatMap((name) => ["--with", name]), "python", ...args),
    /** Prints a line for a check: its result, or why it failed. */
    async report(name: string, check: () => Promise<unknown>): Promise<void> {
      const said = await check().catch((error: Error) => {
        exitCode = 1;
        return error.message;
      });
      process.stdout.write(`${name}: ${String(said ?? "").trim() || "ok"}\n`);
    },
    async end(): Promise<never> {
      await server.stop();
      await rm(folder, { recursive: true });
      process.exit(exitCode);
    },
  };
}

/** A Python for which all packages can be installed. */
async function findPython(): Promise<string | undefined> {
  const versions = new Bun.Glob("3.{12,13}.*/bin/python3");
  const scan = versions.scan({ cwd: join(homedir(), ".pyenv/versions"), absolute: true });
  const candidates = [
    "python3.13",
    "python3.12",
    "python3",
    ...(await Array.fromAsync(scan).catch(() => [])),
  ];
  for (const python of candidates) {
    const found = Bun.which(python) && (await outputOf(python, "-c", needed).catch(() => ""));
    if (found) return found.trim();
  }
}
