/** A model's prices per million tokens. */
export interface ModelPrices {
  prompt: number;
  /** The price of the part of a prompt that the upstream had in its own cache. */
  cached: number;
  completion: number;
}

/** The price list of this server. */
export interface Prices {
  /** An ISO 4217 code. */
  currency: string;
  /** The models by the name that is sent to the upstream. */
  models: ReadonlyMap<string, ModelPrices>;
}

/** Tokens that an upstream processed. */
interface AskedTokens {
  promptTokens: number;
  /** The part of the prompt that the upstream had in its own cache. Absent: none. */
  upstreamCachedTokens?: number;
  completionTokens: number;
}

const million = 1_000_000;

/** The cost of these tokens, in the currency of the list; null if the model has no price. */
export function costOf(
  { models }: Prices,
  model: string | undefined,
  { promptTokens, upstreamCachedTokens = 0, completionTokens }: AskedTokens,
): number | null {
  const prices = model === undefined ? undefined : models.get(model);
  if (prices === undefined) return null;
  const cachedTokens = Math.min(upstreamCachedTokens, promptTokens);
  return (
    ((promptTokens - cachedTokens) * prices.prompt +
      cachedTokens * prices.cached +
      completionTokens * prices.completion) /
    million
  );
}

const significantDigits = 12;

/** Drops the meaningless last digits of sums of decimal fractions. */
export function withoutNoise(cost: number): number {
  return Number(cost.toPrecision(significantDigits));
}

export const maxModelNameCharacters = 200;

/** No control or unassigned characters and no half of a surrogate pair, as PostgreSQL refuses some of them. */
const storable = /^\P{C}+$/u;

/** Whether tokens are counted under this model name: a caller may send anything. */
export function isCountedModelName(name: unknown): name is string {
  return typeof name === "string" && name.length <= maxModelNameCharacters && storable.test(name);
}

/** The current prices: the file may be read again. */
export interface PriceList {
  /** Undefined if there is no list. */
  current(): Prices | undefined;
}

/** The account and key that pay for a call to a model. */
export interface Spender {
  accountId: string;
  /** The key, or the user of a session. */
  keyId: string | undefined;
}

/** Why a spender may not call a model; undefined if it may. */
export type FindRefusal = (spender: Spender, model: string) => Error | undefined;
