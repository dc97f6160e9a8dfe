import { ConfigError } from "../../src/config/config.ts";

/** The errors of a configuration, one line each; none if it can be read. */
export function configErrorLines(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n");
  }
}
