import { LRUCache } from "lru-cache";
import type { RungName } from "./response-formats.ts";

const maxHolders = 1_000;
/** Of one holder: a deployment rarely changes its model. */
const maxModels = 10;
/** A server may have been set up anew under the same name since. */
const knownForMs = 60 * 60 * 1000;

/** What is known of how to ask a model. */
export interface Habits {
  /** Empty if it has told no name, or nothing is known of it. */
  model: string;
  rung: RungName;
  /** Whether the model has answered in the form on this rung. */
  isProven: boolean;
  takesTemperature: boolean;
  tokenLimitField: "max_tokens" | "max_completion_tokens";
}

const unknownModel: Habits = {
  model: "",
  rung: "json_schema",
  isProven: false,
  takesTemperature: true,
  tokenLimitField: "max_tokens",
};

export interface ModelHabits {
  /** Those of the model that answered last: a deployment tells its model's name only in an answer. */
  recall(): Habits;
  learn(model: string, habits: Habits): void;
  forget(model: string): void;
}

/** What each holder has found out by itself. Who is forgotten finds out anew. */
export function rememberHabits(): (holder: string) => ModelHabits {
  const byHolder = new LRUCache<string, ModelHabits>({ max: maxHolders });
  return (holder) => {
    const known = byHolder.get(holder) ?? rememberModelHabits();
    byHolder.set(holder, known);
    return known;
  };
}

function rememberModelHabits(): ModelHabits {
  const byModel = new LRUCache<string, Habits>({ max: maxModels, ttl: knownForMs, noUpdateTTL: true });
  let lastModel = "";
  return {
    recall: () => byModel.get(lastModel) ?? unknownModel,
    learn(model, habits) {
      lastModel = model;
      // One that answers in place of another was asked in the other's way, and may know a better one.
      if (habits.model === "" || habits.model === model) byModel.set(model, { ...habits, model });
    },
    forget: (model) => byModel.delete(model),
  };
}
