import { z } from "zod";
import { type ModelPrices, type Prices, isCountedModelName, maxModelNameCharacters } from "../platform/prices.ts";
import { type Path, parseYamlFile } from "./yaml-file.ts";

/** Usage is read by the names of all of them. */
const maxModels = 1_000;
/** Far above any price, and any number of tokens times it is finite. */
const maxPrice = 1_000_000_000;
const expected = (text: string) => ({ expected: text });

const price = z
  .number()
  .min(0)
  .max(maxPrice)
  .meta(expected(`a price per million tokens, a number from 0 to ${maxPrice}`));

const model = z.strictObject({ prompt: price, cached: price.optional(), completion: price });

const currencies = new Set(Intl.supportedValuesOf("currency"));

const pricesFile = z.strictObject({
  currency: z
    .string()
    .refine((code) => currencies.has(code))
    .default("USD")
    .meta(expected("the ISO code of a currency, such as USD")),
  models: z
    .record(
      z
        .string()
        .refine(isCountedModelName)
        .meta(expected(`a model's name of up to ${maxModelNameCharacters} characters on one line`)),
      model,
    )
    .refine((models) => Object.keys(models).length > 0 && Object.keys(models).length <= maxModels)
    .meta(expected(`1 to ${maxModels} models and their prices`)),
});

/** Reads a price list from YAML, or throws a `ConfigError` with a line for each issue. */
export function parsePrices(path: string, text: string): Prices {
  const { currency, models } = parseYamlFile(path, text, pricesFile, schemaOfPrices).value;
  const entries = Object.entries(models).map(([name, { prompt, cached = prompt, completion }]) => {
    const prices: ModelPrices = { prompt, cached, completion };
    return [name, prices] as const;
  });
  return { currency, models: new Map(entries) };
}

/** The schema of this place of the file. */
function schemaOfPrices([top, name, field]: Path, part: "key" | "value"): z.ZodType {
  if (part === "key") return pricesFile.shape.models.keyType;
  if (top === undefined) return pricesFile;
  if (top === "currency") return pricesFile.shape.currency;
  if (name === undefined) return pricesFile.shape.models;
  const shape: Readonly<Record<string, z.ZodType>> = model.shape;
  return shape[String(field)] ?? model;
}
