// Compiles one executable: `bun packages/server/build/build-executable.ts TARGET RUNTIME FILE`, with Bun's program for that target.
// The licences of what is in it are written beside it.
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { compileServer } from "./bundle-server.ts";
import { thirdPartyLicences } from "./third-party-licences.ts";

const targets = { "linux-x64": "bun-linux-x64", "linux-arm64": "bun-linux-arm64" } as const;
const [, , target = "", runtime, file] = process.argv;
if (!isTarget(target) || runtime === undefined || file === undefined) {
  throw new Error(`Usage: build-executable.ts ${Object.keys(targets).join("|")} RUNTIME FILE`);
}
await compileServer(resolve(file), {
  target: targets[target],
  runtime: resolve(runtime),
  dashboardFolder: undefined,
  commandName: "presage",
});
writeFileSync(join(dirname(resolve(file)), "THIRD-PARTY-LICENCES.txt"), thirdPartyLicences());

function isTarget(name: string): name is keyof typeof targets {
  return Object.hasOwn(targets, name);
}
