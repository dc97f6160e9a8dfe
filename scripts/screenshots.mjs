// `npm run screenshots [-- folder of transitions]`: takes screenshots of every page of the dashboard, light and dark, wide and narrow.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { bun, ensureInstalled, root } from "./ensure-installed.mjs";

await ensureInstalled({ forDevelopment: true });
await buildDashboard();
const folders = process.argv.slice(2).map((path) => resolve(path));
const { status } = spawnSync(bun, [join(root, "packages/web/screenshots/main.ts"), ...folders], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;
