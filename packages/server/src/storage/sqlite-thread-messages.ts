/** A statement for the thread that reads. */
export interface SqliteThreadStatement {
  sql: string;
  parameters: readonly unknown[];
}

export interface SqliteThreadResult {
  rows: unknown[];
}
