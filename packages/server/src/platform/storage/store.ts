import type { Reader, Writer } from "./reader.ts";
import type { Database } from "./schema/tables.ts";

/** The database through connections for different kinds of operations. */
export interface Store {
  readonly database: Database;
  /** For reads that may take long; they delay nothing else. Sees committed data. */
  readonly reader: Reader;
  /** For reads of a few milliseconds that must neither block the main thread nor wait for `reader`. */
  readonly briefReader: Reader;
  /** For changes that may wait for locked rows. Takes turns by what is locked: an account, or one of its users. */
  readonly writer: Writer;
}
