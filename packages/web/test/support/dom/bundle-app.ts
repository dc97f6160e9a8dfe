// Bundles the dashboard for windows of happy-dom. Run as a program, it prints the script's path as a variable for the tests.
import { join } from "node:path";

const entry = join(import.meta.dir, "../../../src/main.tsx");
const output = join(import.meta.dir, "../../../dist-tests/app.js");

export async function bundleApp(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "iife",
    minify: true,
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [
      {
        name: "no styles",
        setup: (build) => {
          build.onLoad({ filter: /\.css$/ }, () => ({ contents: "", loader: "css" }));
        },
      },
    ],
  });
  const script = outputs.find(({ kind }) => kind === "entry-point");
  if (script === undefined) throw new Error("The dashboard could not be bundled.");
  return await script.text();
}

if (import.meta.main) {
  await Bun.write(output, await bundleApp());
  process.stdout.write(JSON.stringify({ PRESAGE_TEST_APP: output }));
}
