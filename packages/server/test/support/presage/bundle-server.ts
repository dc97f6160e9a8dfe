// Bundles the server for the tests that start processes, and prints the path of its `main.js`.
import { rmSync } from "node:fs";
import { join } from "node:path";

const server = join(import.meta.dir, "../../..");
const source = join(server, "src");
/** As deep as the folders of the sources, whose code names the dashboard's by a relative path. */
const outdir = join(server, "dist", "tests");
const threads = [...new Bun.Glob("**/*-thread.ts").scanSync({ cwd: source })];

rmSync(outdir, { recursive: true, force: true });
await Bun.build({
  entrypoints: ["main.ts", ...threads].map((path) => join(source, path)),
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
        build.onLoad({ filter: /packages\/server\/src\/.*\.ts$/ }, async ({ path }) => ({
          contents: (await Bun.file(path).text()).replace(
            /"\.\/([\w-]+-thread)\.ts", import/,
            '"./$1.js", import',
          ),
          loader: "ts",
        }));
      },
    },
  ],
});
process.stdout.write(`${join(outdir, "main.js")}\n`);
