import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { plugin } from "bun";
import { threadFile } from "../../../build/bundle-server.ts";

/** The server in the tests' process starts its threads from the bundle at `main`: loading one takes half the processor time. */
export function startThreadsFrom(main: string): void {
  const bundle = pathToFileURL(main).href;
  plugin({
    name: "threads of the bundle",
    setup(build) {
      build.onLoad({ filter: /\/packages\/server\/src\/.*\.ts$/ }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replace(threadFile, `new URL("./$1.js", "${bundle}")`),
        loader: "ts",
      }));
    },
  });
}
