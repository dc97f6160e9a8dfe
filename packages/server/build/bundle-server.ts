import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import type { BunPlugin } from "bun";

export const root = join(import.meta.dir, "../../..");
const source = join(import.meta.dir, "../src");
const packages = join(root, "node_modules");
const dashboard = join(root, "packages/web/dist");
const tinypool = dirname(Bun.fileURLToPath(import.meta.resolve("tinypool")));
/** How a module names the file of its thread. */
export const threadFile = /new URL\("\.\/([\w-]+)\.ts", import\.meta\.url\)/g;
/** How tinypool names the file of a thread of its pool. */
const poolThreadFile = 'import.meta.url + "/../entry/worker.js"';
/** A comment that bundlers keep. The licences of all packages are in one file beside the bundle. */
const licenceComment = /\/\*![\s\S]*?\*\//g;
/** How sources name a package that they load only when it is needed. */
const lazyPackage = /\brequire\("([\w@][\w@./-]*)"\)/g;
/** How the server names the folder of the dashboard's files. */
const dashboardUrl = 'new URL("../../../web/dist/", import.meta.url)';

export interface BundleOptions {
  /** The dashboard's folder relative to the folder of the bundle; undefined: inside the bundle. */
  dashboardFolder: string | undefined;
  /** How messages name this program. */
  commandName: string;
}

const common = {
  target: "bun",
  format: "esm",
  splitting: true,
  root,
} as const;

/**
 * Bundles the server and its threads, with all packages, into few files of one folder, with `main.js` among them. Packages that are
 * loaded when they are first needed have files of their own in `libraries/`: within a chunk, all would be read at the start.
 */
export async function bundleServer(outdir: string, options: BundleOptions): Promise<void> {
  const libraries = new Set<string>();
  await Bun.build({
    ...common,
    entrypoints: entrypoints(),
    outdir,
    naming: { entry: "[name].[ext]" },
    plugins: [besideTheBundle(options, libraries), mendedPackages],
  });
  await Bun.build({
    ...common,
    entrypoints: [...libraries],
    outdir: join(outdir, "libraries"),
    root: packages,
    plugins: [mendedPackages],
  });
}

/** Compiles the same into one executable, from the Bun at `runtime`. Code that was compiled before starts twice as fast. */
export async function compileServer(
  outfile: string,
  { target, runtime, ...options }: BundleOptions & { target: Bun.Build.CompileTarget; runtime: string },
): Promise<void> {
  await Bun.build({
    ...common,
    entrypoints: entrypoints(),
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    naming: { entry: "[name].[ext]", chunk: "[name]-[hash].[ext]" },
    compile: { target, executablePath: runtime, outfile, autoloadBunfig: false, assets: [dashboard] },
    plugins: [besideTheBundle(options), mendedPackages],
  });
}

function entrypoints(): string[] {
  const sources = [...new Bun.Glob("**/*.ts").scanSync({ cwd: source, absolute: true })];
  const threads = sources
    .filter((path) => !path.endsWith(".test.ts"))
    .flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(threadFile)].map(([, name]) =>
        join(dirname(path), `${name}.ts`),
      ),
    );
  return [join(source, "main.ts"), ...threads, join(tinypool, "entry/worker.js")];
}

/** What sources name by their own place is found by the bundle's. Packages that are to have files of their own are added to `libraries`. */
function besideTheBundle(
  { dashboardFolder, commandName }: BundleOptions,
  libraries?: Set<string>,
): BunPlugin {
  const folder = dashboardFolder ?? "./dist/";
  const { resolve } = createRequire(join(source, "main.ts"));

  function requireLibrary(_: string, name: string): string {
    const file = resolve(name);
    libraries?.add(file);
    const path = `./libraries/${relative(packages, file).replace(/\.cjs$/, ".js")}`;
    // What Bun makes of a package has a default export, or one for each of its names.
    return `(({ default: whole, ...named }) => whole ?? named)(require(${JSON.stringify(path)}))`;
  }

  return {
    name: "beside the bundle",
    setup(build) {
      build.onLoad(
        { filter: /packages\/server\/src\/.*\.ts$|tinypool\/dist\/index\.js$/ },
        ({ path, loader }) => {
          const written = readFileSync(path, "utf8");
          const text = (libraries === undefined ? written : written.replace(lazyPackage, requireLibrary))
            .replace(threadFile, 'new URL("./$1.js", import.meta.url)')
            .replace(poolThreadFile, 'new URL("./worker.js", import.meta.url)')
            .replace(dashboardUrl, `new URL("${folder}", import.meta.url)`);
          if (path.endsWith("/src/platform/words.ts"))
            return { contents: text.replace('"npx presage"', JSON.stringify(commandName)), loader };
          return { contents: text, loader };
        },
      );
      build.onResolve({ filter: /^\.\/libraries\// }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** Packages without what a bundle cannot use. */
const mendedPackages: BunPlugin = {
  name: "mended packages",
  setup(build) {
    // Letters beyond Latin-1, as in its author's name, makes Bun store a whole file with two bytes a character.
    build.onLoad({ filter: /node_modules\/ibantools\/.*\.js$/ }, ({ path, loader }) => ({
      contents: readFileSync(path, "utf8").replaceAll(licenceComment, ""),
      loader,
    }));
    // zod's messages in some fifty languages, which nothing uses.
    build.onLoad({ filter: /node_modules\/zod\/v4\/locales\/index\.js$/ }, ({ loader }) => ({
      contents: 'export { default as en } from "./en.js";',
      loader,
    }));
    // They start threads that Presage does not use. Bun would write this machine's paths into the bundle.
    build.onLoad({ filter: /node_modules\/(ioredis|pino|thread-stream)\/.*\.js$/ }, ({ path, loader }) => ({
      contents: readFileSync(path, "utf8").replaceAll("__dirname", '"."'),
      loader,
    }));
  },
};

interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

const ownPackages = /^(packages|bench)\/|node_modules\/(@presage|bun$|@oven\/)/;
const licenceFile = /^(licen[cs]e|copying|notice)/i;

/** The licences of all packages whose code is in a bundle of the server and the dashboard, as one text. */
export function thirdPartyLicences(): string {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  const sections = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && !dev && !link)
    .filter(([path]) => !ownPackages.test(path) && existsSync(join(root, path)))
    .map(([path, locked]) => sectionOf(path, locked));
  return `Presage contains the following packages.\n\n${sections.join("\n")}`;
}

function sectionOf(path: string, { version, license = "see its files" }: Locked): string {
  const folder = join(root, path);
  const texts = readdirSync(folder)
    .filter((name) => licenceFile.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim());
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}
