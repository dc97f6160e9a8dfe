// Builds the package to publish: `bun packages/server/build/build-package.ts FOLDER`.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import rootManifest from "../../../package.json" with { type: "json" };
import manifest from "../package.json" with { type: "json" };
import { bundleServer, root } from "./bundle-server.ts";
import { thirdPartyLicences } from "./third-party-licences.ts";

const [, , into] = process.argv;
if (into === undefined) throw new Error("Usage: build-package.ts FOLDER");
const folder = resolve(into);

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
