import { join } from "node:path";

/** What tests run as `presage`: the sources, or the bundle of them that `npm test` makes once, which starts in two thirds of the time. */
export const mainFile = process.env.PRESAGE_TEST_MAIN ?? join(import.meta.dir, "../../../src/main.ts");
