import { LRUCache } from "lru-cache";
import type { ResponseFormatName } from "./response-formats.ts";

const maxProfiles = 1_000;
/** Of one profile: a deployment rarely changes its model. */
const maxModels = 10;
/** The server may be replaced under the same name. */
const knownForMs = 60 * 60 * 1000;

/** What has been learned about a model, to ask it in a way that works. */
export interface ModelCapabilities {
  /** Empty if it has sent no name, or nothing is known of it. */
  model: string;
  format: ResponseFormatName;
  /** Whether the model has given a verdict in this format before. */
  isProven: boolean;
  takesTemperature: boolean;
  /** Whether it needs more tokens than a verdict has. */
  needsRoom: boolean;
  tokenLimitField: "max_tokens" | "max_completion_tokens";
}

const unknownModel: ModelCapabilities = {
  model: "",
  format: "json_schema",
  isProven: false,
  takesTemperature: true,
  needsRoom: false,
  tokenLimitField: "max_tokens",
};

export interface CapabilityMemory {
  /** Those of the model that responded last: a deployment names its model only in a response. */
  recall(): ModelCapabilities;
  learn(model: string, capabilities: ModelCapabilities): void;
  forget(model: string): void;
}

/** What each profile has found out by itself. After an eviction it is detected again. */
export function rememberCapabilities(): (profile: string) => CapabilityMemory {
  const byProfile = new LRUCache<string, CapabilityMemory>({ max: maxProfiles });
  return (profile) => {
    const known = byProfile.get(profile) ?? createCapabilityMemory();
    byProfile.set(profile, known);
    return known;
  };
}

function createCapabilityMemory(): CapabilityMemory {
  const byModel = new LRUCache<string, ModelCapabilities>({
    max: maxModels,
    ttl: knownForMs,
    noUpdateTTL: true,
  });
  let lastModel = "";
  return {
    recall: () => byModel.get(lastModel) ?? unknownModel,
    learn(model, capabilities) {
      lastModel = model;
      // A model that responds in place of another was asked in the other's way, and may support a better one.
      if (capabilities.model === "" || capabilities.model === model)
        byModel.set(model, { ...capabilities, model });
    },
    forget: (model) => byModel.delete(model),
  };
}
