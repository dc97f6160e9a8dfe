import type { Kysely } from "kysely";
import type { Micros } from "../columns.ts";
import type { AccountTables } from "./accounts.ts";
import type { EvaluatorTables } from "./evaluators.ts";
import type { ResultTables } from "./results.ts";
import type { RunTables } from "./runs.ts";

export interface Tables extends AccountTables, EvaluatorTables, ResultTables, RunTables {
  settings: SettingsTable;
  idempotent_requests: IdempotentRequestsTable;
  leases: LeasesTable;
}

export type Database = Kysely<Tables>;

/** Which process does what only one does at a time. */
interface LeasesTable {
  name: string;
  holder: string;
  until: Micros;
}

/** Requests with an `Idempotency-Key`, remembered for a day. */
interface IdempotentRequestsTable {
  /** A digest of the caller, the operation and the key. */
  id: string;
  /** A digest of the rest of the request. */
  request_digest: string;
  /** What the response is rebuilt from: JSON, or the name of an import. */
  receipt: string;
  created_at: Micros;
}

/** Values that all processes on the database share: secrets that are created once, the addresses of running servers, and what they saw of the clock. */
interface SettingsTable {
  name: string;
  value: string;
}
