import { CommandError } from "./command-error.ts";

/** Reads `--tag NAME=VALUE`. */
export function readTags(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      if (name === "" || value.length === 0) throw new CommandError("--tag takes NAME=VALUE");
      return [name, value.join("=")];
    }),
  );
}
