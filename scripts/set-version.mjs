// `npm run set-version -- VERSION`: writes the version into every file that names it. A package whose version is not what another
// one depends on would be looked up in the public registry.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure-installed.mjs";
import { filesOfVersion } from "./files-of-version.mjs";

const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  process.stderr.write("Usage: npm run set-version -- VERSION, such as 0.2.0\n");
  process.exit(1);
}
for (const { path, text, wanted } of filesOfVersion(version)) {
  if (text === wanted) continue;
  writeFileSync(join(root, path), wanted);
  process.stdout.write(`${path}\n`);
}
