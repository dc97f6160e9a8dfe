import { test } from "bun:test";

/** Whether `npm run test:all` runs, and not `npm test`. */
export const isWholeRun = process.env.PRESAGE_TEST_ALL !== undefined;

/** For a test that takes seconds of processor time in an otherwise quick file: only `npm run test:all` runs it. */
export const slowTest: typeof test | (() => void) = isWholeRun ? test : () => {};
