import { join } from "node:path";

/** The dashboard as one script that finds everything a browser has in `names`, so that each page can have a window of its own. */
type App = (...browser: unknown[]) => void;

const entry = join(import.meta.dir, "../../../src/main.tsx");

let bundled: Promise<string> | undefined;

export async function appScript(names: readonly string[]): Promise<App> {
  bundled ??= bundle();
  return asFunction(names, await bundled);
}

/** Compiles a script whose globals are its parameters. */
export function asFunction(names: readonly string[], script: string): App {
  return new Function(...names, script) as App;
}

async function bundle(): Promise<string> {
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
