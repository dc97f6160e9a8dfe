import type { Database, Statement } from "bun:sqlite";
import { LRUCache } from "lru-cache";

/** A few hundred kilobytes each at most; most are a few. */
const maxStatements = 200;

/** A connection's prepared statements by their text. */
export interface StatementCache {
  prepare(sql: string): Statement;
  /** Closes the connection with its statements: SQLite keeps it open for as long as one is left. */
  close(): void;
}

/** Keeps the statements that were used last. Bun's own cache keeps the first twenty of a connection for ever, and no others. */
export function createStatementCache(database: Database): StatementCache {
  const statements = new LRUCache<string, Statement>({
    max: maxStatements,
    dispose: (statement) => statement.finalize(),
  });
  return {
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}
