import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure-installed.mjs";

const manifest = /("version": "|"@presage\/[a-z]+": ")[^"]+(?=")/g;
const documents = /(presage-(?:server|sdk)-|registry\.example\.com\/presage:)\d+\.\d+\.\d+/g;

/** The files that name the version of Presage: their present contents, and those with this version. */
export function filesOfVersion(version) {
  const inManifest = (text) => text.replaceAll(manifest, `$1${version}`);
  const inDocument = (text) => text.replaceAll(documents, `$1${version}`);
  const change = {
    "package.json": inManifest,
    ...Object.fromEntries(packages().map((name) => [`packages/${name}/package.json`, inManifest])),
    "package-lock.json": (text) => inLock(text, version),
    "clients/python/pyproject.toml": (text) => text.replace(/^version = ".*"$/m, `version = "${version}"`),
    "clients/python/src/presage/_call.py": (text) =>
      text.replace(/presage-client\/[^"]+/, `presage-client/${version}`),
    "deploy/helm/presage/Chart.yaml": (text) =>
      text
        .replace(/^version: .*$/m, `version: ${version}`)
        .replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
    "README.md": inDocument,
    "docs/delivery.md": inDocument,
    "docs/kubernetes.md": inDocument,
    "packages/sdk/README.md": inDocument,
  };
  return Object.entries(change).map(([path, inVersion]) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, wanted: inVersion(text) };
  });
}

function packages() {
  return readdirSync(join(root, "packages"));
}

/** Only the entries of this repository: other packages have their own versions. */
function inLock(text, version) {
  const lock = JSON.parse(text);
  lock.version = version;
  for (const path of ["", ...packages().map((name) => `packages/${name}`)]) {
    const entry = lock.packages[path];
    entry.version = version;
    for (const name of Object.keys(entry.dependencies ?? {}))
      if (name.startsWith("@presage/")) entry.dependencies[name] = version;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}
