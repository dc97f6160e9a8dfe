// Builds the package to publish: `bun packages/sdk/build.mjs [folder]`, by default into `dist`.
// It needs neither the contract nor zod: the JavaScript imports only their types, whose declarations are written out.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { declareContract } from "./declare-contract.mjs";

const home = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(home));
const folder = resolve(process.argv[2] ?? join(home, "dist"));
const project = join(home, "tsconfig.build.json");
const fromContract = /\b(?:import|export) type \{([^}]*)\} from "@presage\/contract";/g;

rmSync(folder, { recursive: true, force: true });
emit();
const names = rewriteDeclarations();
writeFileSync(join(folder, "contract.d.ts"), await declareContract(project, names));
writeFileSync(join(folder, "package.json"), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
cpSync(join(home, "README.md"), join(folder, "README.md"));
cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));

/** The compiler also emits the contract; only the client's own files are copied. */
function emit() {
  const emitted = mkdtempSync(join(tmpdir(), "presage-sdk-"));
  try {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { status } = spawnSync("node", [tsc, "--project", project, "--outDir", emitted], {
      stdio: "inherit",
    });
    if (status !== 0) throw new Error("The client does not compile.");
    cpSync(join(emitted, "sdk", "src"), folder, { recursive: true });
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

/** Rewrites the imports of the declarations to each other and to `contract.d.ts`. Returns the contract's types that they import. */
function rewriteDeclarations() {
  const named = new Set();
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".d.ts")) continue;
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    for (const [, list = ""] of text.matchAll(fromContract)) {
      for (const type of list.split(",")) named.add(type.trim());
    }
    const way = relative(dirname(file), folder) || ".";
    const rewritten = text
      .replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"')
      .replaceAll('from "@presage/contract"', `from "${way}/contract.js"`);
    writeFileSync(file, rewritten);
  }
  named.delete("");
  return [...named].sort();
}

function publishedManifest() {
  const { name, version, description, keywords, license, author, type } = manifestOf(home);
  return {
    name,
    version,
    description,
    keywords,
    license,
    author,
    repository: { ...manifestOf(root).repository, directory: "packages/sdk" },
    type,
    sideEffects: false,
    engines: { node: ">=20" },
    publishConfig: { access: "public", provenance: true },
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  };
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
