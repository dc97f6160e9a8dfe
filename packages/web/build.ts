// Builds the dashboard into `dist`: `bun packages/web/build.ts`. Does nothing if `dist` is up to date.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { type PluginContext, rolldown } from "rolldown";
import { digestOfSources } from "../../scripts/digest-of-sources.ts";
import { makeExample } from "../sandbox/src/example.ts";

const home = import.meta.dir;
const root = dirname(dirname(home));
const finished = join(home, "dist");
const fontPackages = ["@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"];
/** Latin characters only; other scripts use the system's fonts. */
const fontFiles = ["inter-latin-wght-normal.woff2", "jetbrains-mono-latin-wght-normal.woff2"];

const sectionOf = (module: string) => /src\/pages\/([^/]+)\//.exec(module)?.[1] ?? null;

/** What few readers of a section open, in a script beside the section's: such as the tasks of an environment, and the steps of a run. */
const partOf = (module: string) =>
  /pages\/(environments\/(?:play|tasks|environment\/definition)|runs\/(?:trajectory|samples\/sample-drawer|run\/missing))/
    .exec(module)?.[1]
    ?.split("/")[0];

type Modules = Pick<PluginContext, "getModuleInfo">;

/** Whether more than one section of the dashboard needs a module. */
function isShared(module: string, modules: Modules): boolean {
  const sections = new Set<string>();
  const users = new Set([module]);
  for (const user of users) {
    const section = sectionOf(user);
    if (section !== null) sections.add(section);
    else for (const importer of modules.getModuleInfo(user)?.importers ?? []) users.add(importer);
  }
  return sections.size > 1;
}

/**
 * What is loaded immediately, what several sections need, and each section with all of its pages: a request costs a browser
 * more than a few kilobytes, and people who open one page of a section go on to others. React's renderer is in the second
 * group, as a browser runs each script in one task.
 */
const groups = [
  { name: "base", tags: ["$initial" as const], priority: 3 },
  {
    name: (module: string, modules: Modules) =>
      module.includes("react-dom/client") || isShared(module, modules) ? "ui" : null,
    debugName: "ui",
    priority: 2,
  },
  { name: "save", test: /csv-stringify/, priority: 2 },
  {
    name: (module: string) => (partOf(module) ? null : sectionOf(module)),
    debugName: "sections",
    priority: 1,
  },
  {
    name: (module: string) => (partOf(module) ? `${partOf(module)}-part` : null),
    debugName: "parts",
    priority: 0,
  },
];

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
  // Several servers may start at the same time: each builds into its own folder, and the last one wins.
  const folder = join(home, `dist-${process.pid}`);
  const assets = join(folder, "assets");
  mkdirSync(assets, { recursive: true });
  const theme = await bundleTheme(assets);
  const styles = await bundleStyles(assets);
  const scripts = await bundleScripts("src/main.tsx", assets);
  // Bundled separately, so that neither bundle is split into more files because of the other.
  const reader = await bundleScripts("src/docs/reader.ts", assets);
  writeFileSync(join(assets, "example.json"), JSON.stringify(makeExample()));
  for (const file of fontFiles) copyFileSync(fontPath(file), join(assets, file));
  const shared = {
    theme: `/assets/${theme}`,
    styles: `/assets/${styles}`,
    font: `/assets/${fontFiles[0]}`,
  };
  const shell = readFileSync(join(home, "src/shell.html"), "utf8")
    .replace("{{theme}}", shared.theme)
    .replace("{{styles}}", shared.styles)
    .replace("{{script}}", `/assets/${scripts.entry}`)
    .replace("{{font}}", shared.font);
  mkdirSync(join(folder, "shells"));
  for (const section of readdirSync(join(home, "src/pages")))
    writeFileSync(
      join(folder, "shells", `${section}.html`),
      shell.replace("{{preloads}}", scripts.neededBy(section).map(preload).join("\n")),
    );
  // Imported here, as this file usually has nothing to build.
  const { openApiDocument } = await import("../server/src/app/operations.ts");
  const { buildDocs } = await import("./src/docs/build-docs.tsx");
  const entries = buildDocs({
    document: JSON.parse(JSON.stringify(await openApiDocument())),
    root,
    assets: { ...shared, script: `/assets/${reader.entry}` },
    folder: join(folder, "docs"),
  });
  writeFileSync(join(assets, "reference.json"), JSON.stringify(entries));
  const made = ["example.json", "reference.json", theme, styles, ...scripts.files, ...reader.files];
  for (const file of new Set(made)) compress(join(assets, file));
  writeFileSync(join(folder, "digest"), digest);
  replace(folder);
}

/** Not a module, so that it runs before the page is painted. Returns the file's name, like the other functions. */
async function bundleTheme(outdir: string): Promise<string> {
  return bundle({ entrypoints: [join(home, "src/apply-theme.ts")], format: "iife", outdir });
}

async function bundleStyles(outdir: string): Promise<string> {
  const entrypoints = [join(home, "src/app.css")];
  const name = await bundle({ entrypoints, plugins: [tailwind], external: ["/assets/*"], outdir });
  // For "narrower than", Bun subtracts a thousandth of a pixel, which browsers round away: they count in 64ths.
  const path = join(outdir, name);
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("- .001px", "- .02px"));
  return name;
}

async function bundle(options: Bun.BuildConfig): Promise<string> {
  const { outputs } = await Bun.build({
    ...options,
    target: "browser",
    minify: true,
    naming: "[name]-[hash].[ext]",
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`The build of ${options.entrypoints.join()} produced nothing.`);
  return basename(output.path);
}

async function bundleScripts(
  input: string,
  dir: string,
): Promise<{ entry: string; neededBy(section: string): string[]; files: string[] }> {
  const build = await rolldown({
    input: join(home, input),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    // The stylesheet is built separately.
    moduleTypes: { ".css": "empty", ".md": "text" },
    // Libraries mark what server components may not render, which is irrelevant to a bundle without a server.
    onLog: (level, log, write) => log.code !== "MODULE_LEVEL_DIRECTIVE" && write(level, log),
    preserveEntrySignatures: false,
  });
  const { output } = await build.write({
    dir,
    minify: true,
    comments: { legal: false },
    // The server recognises names that change with their content by this form.
    hashCharacters: "base36",
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups },
  });
  const [entry] = output;
  const files = output.map(({ fileName }) => fileName);
  const neededBy = (section: string) =>
    output
      .filter(({ name, fileName }) => entry.imports.includes(fileName) || name === "ui" || name === section)
      .map(({ fileName }) => fileName);
  return { entry: entry.fileName, neededBy, files };
}

function preload(file: string): string {
  return `<link rel="modulepreload" href="/assets/${file}">`;
}

/** Keeps only the compressed file: the server unpacks it for the few clients that need another, and it takes less room in every image. */
function compress(file: string): void {
  writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)));
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
