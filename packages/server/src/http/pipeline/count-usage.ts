import type { UsageOperation } from "@presage/contract";
import type { CallWithCaller } from "./route.ts";

/** Has a request counted in its account's usage, however it is answered. */
export function countUsage({ exchange, caller }: CallWithCaller, operation: UsageOperation): void {
  exchange.countsFor = { accountId: caller.accountId, operation };
}
