import { isCountedModelName } from "../platform/counted-model-name.ts";

/** How many names without a price an account's callers can add in an hour. */
const maxNames = 100;

/** The name under which an account's tokens of this hour are counted; undefined: under none. */
export type CountedModels = (
  accountId: string,
  hour: number,
  model: string | undefined,
) => string | undefined;

/**
 * Callers name models as they like, and many upstreams serve any name: without a limit they could add rows without end. A model
 * with a price is always counted by its name, so its tokens cannot hide behind others.
 */
export function createCountedModels(hasPrice: (model: string) => boolean): CountedModels {
  let namesHour = 0;
  const namesOf = new Map<string, Set<string>>();

  return (accountId, hour, model) => {
    if (model === undefined || hasPrice(model)) return model;
    if (hour !== namesHour) {
      namesHour = hour;
      namesOf.clear();
    }
    const names = namesOf.get(accountId) ?? new Set();
    if (names.has(model)) return model;
    if (names.size >= maxNames || !isCountedModelName(model)) return undefined;
    namesOf.set(accountId, names.add(model));
    return model;
  };
}
