import { LRUCache } from "lru-cache";
import { EvaluationError } from "../evaluation-error.ts";
import type { Family } from "../evaluators/family.ts";
import type { UsableProfile } from "../profiles/find-profile.ts";

const maxConfigs = 500;
const maxConfigCharacters = 4_000_000;

/** A profile's config as its family's schema gives it, or an `EvaluationError`. */
export type ReadConfig = (family: Family, profile: UsableProfile) => unknown;

/** A revision never changes, and to check the config of one, a JSON Schema for example, can take a tenth of a second. */
export function createConfigReader(): ReadConfig {
  const checked = new LRUCache<string, { config: unknown }>({
    max: maxConfigs,
    maxSize: maxConfigCharacters,
    sizeCalculation: ({ config }) => JSON.stringify(config).length,
  });
  return (family, { publicId, revision, config: given }) => {
    const key = `${publicId}/${revision}`;
    const known = checked.get(key);
    if (known !== undefined) return known.config;
    const { success, data: config } = family.config.safeParse(given);
    if (!success) {
      throw new EvaluationError("invalid_profile", "The profile's config is no longer valid for its family.");
    }
    checked.set(key, { config });
    return config;
  };
}
