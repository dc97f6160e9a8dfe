import { join } from "node:path";

export const benchDirectory = import.meta.dir;
export const rootDirectory = join(benchDirectory, "..");
/** Everything that a run writes, except the report. Ignored by git. */
export const workDirectory = join(benchDirectory, ".work");
export const resultsFile = join(benchDirectory, "RESULTS.md");
export const portkeyPackageDirectory = join(benchDirectory, "node_modules", "@portkey-ai", "gateway");
