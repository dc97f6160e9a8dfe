import { join } from "node:path";
import { keepFolder, outputOf, unlessUnavailable } from "./keep-folder.ts";

/** A folder with these packages, as `npm install` names them. It is made once and kept. Undefined if the packages cannot be fetched. */
export function nodeEnvironment(packages: readonly string[]): Promise<string | undefined> {
  return unlessUnavailable(packages, () =>
    keepFolder(["npm", packages], async (draft) => {
      await Bun.write(join(draft, "package.json"), "{}");
      const options = ["--prefix", draft, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
      await outputOf("npm", "install", ...options, ...packages);
    }),
  );
}
