import type { Prices } from "./cost-of.ts";

/** The prices that hold now: the file may be read again. */
export interface PriceList {
  /** Undefined: there is no list. */
  current(): Prices | undefined;
}
