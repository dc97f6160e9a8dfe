import { unknownVariables } from "../config/config.ts";
import { environment } from "../config/environment.ts";
import type { RawEnvironment } from "../config/values.ts";
import { similarName } from "../platform/words.ts";
import { printNotice } from "./print-notice.ts";

/** A misspelt variable has no effect, which nothing else would show. */
export function warnOfUnknownVariables(raw: RawEnvironment): void {
  const known = Object.keys(environment.shape);
  for (const name of unknownVariables(raw)) {
    const similar = similarName(name, known);
    const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
    printNotice(`${name} is unknown and has no effect${hint}`);
  }
}
