import { join } from "node:path";

/** A script that finds everything a browser has in its parameters, so that each page can have a window of its own. */
type Script = (...ofWindow: unknown[]) => void;

const entry = join(import.meta.dir, "../../../src/main.tsx");

let app: Promise<Script> | undefined;

/** The dashboard, bundled from its sources once for all pages of this process. */
export async function appScript(names: readonly string[]): Promise<Script> {
  app ??= bundle().then((text) => asFunction(names, text));
  return await app;
}

/** Compiles a script whose globals are its parameters. */
export function asFunction(names: readonly string[], script: string): Script {
  return new Function(...names, script) as Script;
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
