import { ConfigError } from "../../src/config/config.ts";

/** What is wrong with a configuration, a line each; none if it can be read. */
export function configErrorLines(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n");
  }
}
