import type { ExplainStrategy } from "@presage/contract";

export function isExplained(strategy: ExplainStrategy, pass: boolean): boolean {
  return strategy === "always" || strategy === (pass ? "on-success" : "on-fail");
}
