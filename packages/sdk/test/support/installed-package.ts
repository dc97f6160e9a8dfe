import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const sdk = resolve(import.meta.dir, "../..");
const root = resolve(sdk, "../..");

export interface Finished {
  code: number;
  /** Its output, including errors. */
  output: string;
}

/** A foreign folder with the package installed as published. */
export interface Consumer {
  /** The package's own files. */
  packageFolder: string;
  /** Runs a module on Node.js. */
  runOnNode(name: string, source: string, environment?: Record<string, string>): Promise<Finished>;
  /** Checks a module against the package's declarations, with these settings of the compiler. */
  typeCheck(name: string, source: string, compilerOptions: Record<string, unknown>): Promise<Finished>;
  remove(): Promise<void>;
}

/** Builds, packs and installs the package without a registry. */
export async function installPackage(): Promise<Consumer> {
  const work = await mkdtemp(join(tmpdir(), "presage-sdk-test-"));
  const built = join(work, "built");
  const folder = join(work, "consumer");
  await mkdir(folder);
  await succeed([process.execPath, join(sdk, "build.mjs"), built], root);
  await succeed(["npm", "pack", built, "--pack-destination", work], work);
  const archive = (await readdir(work)).find((name) => name.endsWith(".tgz")) ?? "";
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  // What npm does with a package without dependencies, but without npm's start-up.
  const packageFolder = join(folder, "node_modules", "@presage", "sdk");
  await mkdir(packageFolder, { recursive: true });
  await succeed(["tar", "-xzf", join(work, archive), "-C", packageFolder, "--strip-components=1"], folder);

  return {
    packageFolder,
    async runOnNode(name, source, environment = {}) {
      await writeFile(join(folder, `${name}.mjs`), source);
      return run(["node", `${name}.mjs`], folder, environment);
    },
    async typeCheck(name, source, compilerOptions) {
      await writeFile(join(folder, `${name}.ts`), source);
      const config = join(folder, `tsconfig.${name}.json`);
      const options = {
        strict: true,
        noEmit: true,
        module: "NodeNext",
        target: "ES2022",
        skipLibCheck: false,
        exactOptionalPropertyTypes: true,
        ...compilerOptions,
      };
      await writeFile(config, JSON.stringify({ compilerOptions: options, files: [`${name}.ts`] }));
      return run(["node", join(root, "node_modules/typescript/bin/tsc"), "--project", config], folder);
    },
    remove: () => rm(work, { recursive: true, force: true }),
  };
}

async function succeed(command: string[], cwd: string): Promise<void> {
  const { code, output } = await run(command, cwd);
  if (code !== 0) throw new Error(`${command.join(" ")} failed:\n${output}`);
}

async function run(
  command: string[],
  cwd: string,
  environment: Record<string, string> = {},
): Promise<Finished> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: out + errors };
}
