// Builds what is published, with the licences of what is in it:
// `bun packages/server/build/build-release.ts package FOLDER` the package for npm,
// `… executable TARGET RUNTIME FILE` one executable, from Bun's program for that target.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import rootManifest from "../../../package.json" with { type: "json" };
import manifest from "../package.json" with { type: "json" };
import { bundleServer, compileServer, root, thirdPartyLicences } from "./bundle-server.ts";

const targets = { "linux-x64": "bun-linux-x64", "linux-arm64": "bun-linux-arm64" } as const;

const [, , kind, ...args] = process.argv;
const [first = "", runtime, file] = args;
if (kind === "package" && args.length === 1) await buildPackage(resolve(first));
else if (kind === "executable" && isTarget(first) && runtime !== undefined && file !== undefined)
  await buildExecutable(first, resolve(runtime), resolve(file));
else
  throw new Error(
    `Usage: build-release.ts package FOLDER | executable ${Object.keys(targets).join("|")} RUNTIME FILE`,
  );

async function buildPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "bin"), { recursive: true });
  await bundleServer(join(folder, "server"), { dashboardFolder: "../dashboard/", commandName: "presage" });
  cpSync(join(root, "packages/web/dist"), join(folder, "dashboard"), { recursive: true });
  rmSync(join(folder, "dashboard", "digest"));
  cpSync(join(import.meta.dir, "presage.mjs"), join(folder, "bin", "presage.mjs"));
  chmodSync(join(folder, "bin", "presage.mjs"), 0o755);
  cpSync(join(import.meta.dir, "README.md"), join(folder, "README.md"));
  for (const name of ["LICENSE", "CHANGELOG.md"]) cpSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, "THIRD-PARTY-LICENCES.txt"), thirdPartyLicences());
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
}

/** All packages but Bun are in the bundle. */
function publishedManifest() {
  const { name, version, description, keywords, license, author, type } = manifest;
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    name,
    version,
    description,
    keywords,
    license,
    author,
    repository: { ...repository, directory: "packages/server" },
    type,
    bin: { presage: "bin/presage.mjs" },
    files: ["bin", "server", "dashboard", "CHANGELOG.md", "THIRD-PARTY-LICENCES.txt"],
    engines: rootManifest.engines,
    publishConfig: { access: "public", provenance: true },
    dependencies: { bun: rootManifest.dependencies.bun },
  };
}

async function buildExecutable(target: keyof typeof targets, runtime: string, file: string): Promise<void> {
  await compileServer(file, {
    target: targets[target],
    runtime,
    dashboardFolder: undefined,
    commandName: "presage",
  });
  writeFileSync(join(dirname(file), "THIRD-PARTY-LICENCES.txt"), thirdPartyLicences());
}

function isTarget(name: string): name is keyof typeof targets {
  return Object.hasOwn(targets, name);
}
