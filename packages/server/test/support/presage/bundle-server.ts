// Bundles the server for the tests that start processes, and prints the path of its `main.js`.
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const server = join(import.meta.dir, "../../..");
const source = join(server, "src");
/** As deep as the folders of the sources, whose code names the dashboard's by a relative path. */
const outdir = join(server, "dist", "tests");
/** How a module names the file of its thread. */
const threadFile = /new URL\("\.\/([\w-]+)\.ts", import\.meta\.url\)/g;
const sources = [...new Bun.Glob("**/*.ts").scanSync({ cwd: source, absolute: true })].filter(
  (path) => !path.endsWith(".test.ts"),
);
const threads = sources.flatMap((path) =>
  [...readFileSync(path, "utf8").matchAll(threadFile)].map(([, name]) => join(dirname(path), `${name}.ts`)),
);

rmSync(outdir, { recursive: true, force: true });
await Bun.build({
  entrypoints: [join(source, "main.ts"), ...threads],
  outdir,
  // Otherwise the paths of files that it serves would be relative to where it is started.
  publicPath: `${outdir}/`,
  target: "bun",
  splitting: true,
  // It starts a file of its own package as a thread.
  external: ["tinypool"],
  naming: { entry: "[name].[ext]" },
  plugins: [
    {
      name: "threads are started from the bundle",
      setup(build) {
        build.onLoad({ filter: /packages\/server\/src\/.*\.ts$/ }, ({ path }) => ({
          contents: readFileSync(path, "utf8").replace(threadFile, 'new URL("./$1.js", import.meta.url)'),
          loader: "ts",
        }));
      },
    },
  ],
});
process.stdout.write(`${join(outdir, "main.js")}\n`);
