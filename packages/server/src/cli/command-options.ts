import type { Config } from "../config/config.ts";

/** Reads the configuration, once a command needs it. */
export type Configure = () => Config;

/** Options that several commands have. */
export const json = ["--json", "print JSON lines instead of a table"] as const;
export const onServer = [
  "--server <url>",
  "use this Presage server, with the API key in PRESAGE_API_KEY, instead of the configured database",
] as const;

/** Collects the values of a repeatable option. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}
