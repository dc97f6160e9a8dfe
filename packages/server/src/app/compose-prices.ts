import { type Config, ConfigError } from "../config/config.ts";
import { parsePrices } from "../config/prices-file.ts";
import { readSettingsFile } from "../config/yaml-file.ts";
import type { Prices, PriceList } from "../platform/prices.ts";
import type { Logger } from "../platform/observability/logger.ts";

export interface ComposedPrices extends PriceList {
  /** Reads the file again. A file with an issue changes nothing and is logged. */
  reread(): Promise<void>;
}

/** The price list of the file, if one is configured. */
export async function composePrices(
  { pricesPath: path }: Pick<Config, "pricesPath">,
  logger: Pick<Logger, "info" | "error">,
): Promise<ComposedPrices> {
  if (path === undefined) return { current: () => undefined, async reread() {} };
  let prices = await readPrices(path);
  return {
    current: () => prices,
    async reread() {
      try {
        prices = await readPrices(path);
        logger.info({ models: prices.models.size }, "read the prices again");
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        logger.error({ issues: error.message.split("\n") }, "the prices are not valid and stay as they were");
      }
    },
  };
}

async function readPrices(path: string): Promise<Prices> {
  return parsePrices(path, await readSettingsFile("PRESAGE_PRICES", path));
}
