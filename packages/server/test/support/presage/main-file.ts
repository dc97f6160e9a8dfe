import { join } from "node:path";

/** The sources of `presage`, or the bundle of them that `npm test` makes once, which starts in two thirds of the time. */
export const mainFile = process.env.PRESAGE_TEST_MAIN ?? join(import.meta.dir, "../../../src/main.ts");

/** The command that starts `presage`, without arguments: the executable that `npm test` compiles, if there is one. */
export const presageCommand: readonly string[] =
  process.env.PRESAGE_TEST_EXECUTABLE === undefined
    ? [process.execPath, mainFile]
    : [process.env.PRESAGE_TEST_EXECUTABLE];
