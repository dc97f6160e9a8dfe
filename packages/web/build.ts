// Builds the dashboard into `dist`: `bun packages/web/build.ts`. Does nothing if `dist` is up to date.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { digestOfSources } from "../../scripts/digest-of-sources.ts";
import { makeExample } from "../sandbox/src/example.ts";

const home = import.meta.dir;
const root = dirname(dirname(home));
const finished = join(home, "dist");
const fontPackages = ["@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"];
/** Latin characters only; other scripts use the system's fonts. */
const fontFiles = ["inter-latin-wght-normal.woff2", "jetbrains-mono-latin-wght-normal.woff2"];

const digest = digestOfSources(
  [
    join(home, "src"),
    join(root, "docs"),
    ...["sdk", "contract", "sandbox", "server"].map((name) => join(root, "packages", name, "src")),
  ],
  [
    import.meta.path,
    ...["package-lock.json", "CHANGELOG.md", "packages/sdk/README.md", "clients/python/README.md"].map(
      (name) => join(root, name),
    ),
  ],
);
if (!isBuilt()) {
  process.stderr.write("Building the dashboard …\n");
  await build();
}

function isBuilt(): boolean {
  const digestFile = join(finished, "digest");
  return existsSync(digestFile) && readFileSync(digestFile, "utf8") === digest;
}

async function build(): Promise<void> {
  // Several servers may start at once: each builds into a folder of its own, and the last one wins.
  const folder = join(home, `dist-${process.pid}`);
  const assets = join(folder, "assets");
  mkdirSync(assets, { recursive: true });
  const options = {
    outdir: assets,
    target: "browser",
    minify: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  } as const;
  // Not a module, so that it runs before the page is painted.
  const theme = await Bun.build({
    ...options,
    entrypoints: [join(home, "src/apply-theme.ts")],
    format: "iife",
  });
  const app = await Bun.build({
    ...options,
    entrypoints: [join(home, "src/main.tsx")],
    splitting: true,
    plugins: [tailwind],
    external: ["/assets/*"],
    publicPath: "/assets/",
  });
  // Apart from the dashboard, so that neither is cut into more files for the other.
  const reader = await Bun.build({
    ...options,
    entrypoints: [join(home, "src/docs/reader.ts")],
    splitting: true,
    publicPath: "/assets/",
  });
  const example = join(assets, "example.json");
  writeFileSync(example, JSON.stringify(makeExample()));
  for (const file of fontFiles) copyFileSync(fontPath(file), join(assets, file));
  const shared = {
    theme: addressOf(theme, "entry-point", ".js"),
    styles: addressOf(app, "asset", ".css"),
    font: `/assets/${fontFiles[0]}`,
  };
  const shell = readFileSync(join(home, "src/shell.html"), "utf8")
    .replace("{{theme}}", shared.theme)
    .replace("{{styles}}", shared.styles)
    .replace("{{script}}", addressOf(app, "entry-point", ".js"))
    .replace("{{font}}", shared.font);
  writeFileSync(join(folder, "shell.html"), shell);
  // Loaded here, as most runs of this file build nothing.
  const { openApiDocument } = await import("../server/src/app/openapi-document.ts");
  const { buildDocs } = await import("./src/docs/build-docs.tsx");
  const entries = buildDocs({
    document: JSON.parse(JSON.stringify(openApiDocument())),
    root,
    assets: { ...shared, script: addressOf(reader, "entry-point", ".js") },
    folder: join(folder, "docs"),
  });
  const reference = join(assets, "reference.json");
  writeFileSync(reference, JSON.stringify(entries));
  const outputs = [theme, app, reader].flatMap((built) => built.outputs.map(({ path }) => path));
  for (const path of new Set([example, reference, ...outputs])) compress(path);
  writeFileSync(join(folder, "digest"), digest);
  replace(folder);
}

function addressOf({ outputs }: Bun.BuildOutput, kind: Bun.BuildArtifact["kind"], extension: string): string {
  const output = outputs.find((artifact) => artifact.kind === kind && artifact.path.endsWith(extension));
  if (output === undefined) throw new Error(`The build produced no ${kind} with the extension ${extension}.`);
  return `/assets/${basename(output.path)}`;
}

/** Keeps the compressed files only: what hardly any client requests needs no room in every image. */
function compress(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  rmSync(file);
}

function replace(folder: string): void {
  const old = join(home, `dist-${process.pid}-old`);
  if (existsSync(finished)) renameSync(finished, old);
  try {
    renameSync(folder, finished);
  } catch (error) {
    // Another build finished first.
    if (!existsSync(finished)) throw error;
    rmSync(folder, { recursive: true });
  }
  rmSync(old, { recursive: true, force: true });
}

function fontPath(file: string): string {
  const require = createRequire(import.meta.path);
  for (const name of fontPackages) {
    const path = join(dirname(require.resolve(`${name}/package.json`)), "files", file);
    if (existsSync(path)) return path;
  }
  throw new Error(`No package contains the font ${file}.`);
}
