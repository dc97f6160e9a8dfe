// `npm run build:package`: builds the packages of the server and its client, as they would be published, in `dist/`.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";
import { runOrExit } from "./run-or-exit.mjs";

await ensureInstalled({ forDevelopment: true });
await buildDashboard();

const dist = join(root, "dist");
const parts = [
  {
    build: [join(root, "packages/server/build/build-release.ts"), "package"],
    folder: join(dist, "server-package"),
  },
  { build: [join(root, "packages/sdk/build.mjs")], folder: join(dist, "sdk-package") },
];
mkdirSync(dist, { recursive: true });
for (const { build, folder } of parts) {
  runOrExit(bun, [...build, folder]);
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const archive = join(dist, `${name.slice(1).replace("/", "-")}-${version}.tgz`);
  rmSync(archive, { force: true });
  runOrExit("npm", ["pack", folder, "--pack-destination", dist, "--silent"], { quiet: true });
  rmSync(folder, { recursive: true });
  process.stdout.write(`${archive}\n`);
}
