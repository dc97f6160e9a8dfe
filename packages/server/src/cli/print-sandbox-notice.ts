import { printNotice } from "./print-notice.ts";

/** Says that no model predicts. */
export function printSandboxNotice(): void {
  printNotice(
    "PRESAGE_UPSTREAM_URL is not set: using the built-in sandbox, a rule-based simulator, not a language model.",
  );
}
