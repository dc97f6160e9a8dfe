import type { UsageKey, UsageRow } from "@presage/sdk";
import { sumUsage, type UsageFigures } from "../../data/figures/usage-figures.ts";

export interface UsageOfKey extends UsageFigures {
  /** Null: the dashboard. */
  keyId: string | null;
  /** Undefined for the dashboard. */
  key: UsageKey | undefined;
  name: string;
  rows: UsageRow[];
}

const dashboardName = "Dashboard";

/** Most requests first. */
export function rankKeys(rows: readonly UsageRow[], keys: readonly UsageKey[]): UsageOfKey[] {
  const keyOf = new Map(keys.map((key) => [key.id, key]));
  return [...Map.groupBy(rows, ({ api_key_id }) => api_key_id)]
    .map(([keyId, ofKey]) => {
      const key = keyId === null ? undefined : keyOf.get(keyId);
      const name = keyId === null ? dashboardName : (key?.name ?? "Deleted key");
      return { keyId, key, name, rows: ofKey, ...sumUsage(ofKey) };
    })
    .sort((a, b) => b.requests - a.requests);
}
