import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { SqliteStatement } from "kysely";
import { LRUCache } from "lru-cache";

/** How long SQLite itself waits for another connection's lock, blocking the calling thread. */
export const busyTimeoutMs = 5_000;
const maxStatements = 200;
/** A statement keeps a copy of its last bound values. With more than this, the statement is not cached. */
const maxBoundLength = 64 * 1024;
/** The thread that has the turn may be gone, or take long to write. */
const turnPatienceMs = 100;
const turnFree = 0;
const turnTaken = 1;
/** Places in the shared memory: whether the turn is taken, and how many threads that do not give way wait for it. */
const turnStateAt = 0;
const turnWaitingAt = 1;

/** What a thread that writes a file starts with. */
export interface WriterData {
  path: string;
  turn: SharedArrayBuffer;
}

/** Opens a connection whose commits are on disk when they return. Given the bytes of a database, it opens a copy in memory. */
export function openSqlite(path: string | Uint8Array): Database {
  if (typeof path === "string" && path !== ":memory:") createFile(path);
  const database =
    typeof path === "string"
      ? new Database(path, { create: true, strict: true })
      : Database.deserialize(path, { strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    // Deleted data is overwritten; `fast` would leave the texts in free pages.
    database.run("PRAGMA secure_delete = ON");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Like `openSqlite`, for reads only. */
export function openSqliteReader(path: string): Database {
  const database = openSqlite(path);
  database.run("PRAGMA query_only = ON");
  return database;
}

/**
 * Creates a missing file, readable by its owner only: it contains the secret for digests of API keys. An existing file is not
 * opened: closing any descriptor of it drops the locks of this process's other connections (POSIX), and the next process to
 * open it would take its log for abandoned and delete it.
 */
function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** A connection's prepared statements by their text. */
export type StatementCache = ReturnType<typeof createStatementCache>;

/** Keeps the statements that were used last. Bun's own cache keeps the first twenty of a connection for ever, and no others. */
export function createStatementCache(database: Database) {
  const statements = new LRUCache<string, Statement>({
    max: maxStatements,
    dispose: (statement) => statement.finalize(),
  });

  function find(sql: string): Statement {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  }

  return {
    /**
     * Prepares a statement for one use, before the next is prepared: either may close it. Instead of its parameters it may be given rows of
     * parameters, and is then executed for each row.
     */
    prepare(sql: string): SqliteStatement {
      const statement = find(sql);

      /** Executes the statement for each row, or once, and returns the results. */
      function use<Result>(
        parameters: readonly unknown[],
        execute: (bindings: SQLQueryBindings[]) => Result,
      ): Result[] {
        let bound = parameters;
        try {
          return rowsOf(parameters).map((row) => {
            bound = row;
            return execute(row as SQLQueryBindings[]);
          });
        } finally {
          letGo(bound);
        }
      }

      function letGo(parameters: readonly unknown[]): void {
        if (boundLength(parameters) > maxBoundLength) statements.delete(sql);
      }

      // Bun takes the values as one list too, which is faster than as many arguments.
      return {
        reader: statement.columnNames.length > 0,
        all: (parameters) => use(parameters, (bindings) => statement.all(bindings)).flat(),
        run: (parameters) => use(parameters, (bindings) => statement.run(bindings)).at(-1) ?? nothing,
        *iterate(parameters) {
          try {
            yield* statement.iterate(...(parameters as SQLQueryBindings[]));
          } finally {
            letGo(parameters);
          }
        },
      };
    },
    /** Closes the connection with its statements: SQLite keeps it open for as long as a statement is left. */
    close(): void {
      statements.clear();
      database.close();
    },
  };
}

const nothing = { changes: 0, lastInsertRowid: 0 };

/** No parameter is an array. */
function rowsOf(parameters: readonly unknown[]): readonly (readonly unknown[])[] {
  return Array.isArray(parameters[0]) ? (parameters as readonly unknown[][]) : [parameters];
}

/** The length of the parameters, in characters or bytes. */
function boundLength(parameters: readonly unknown[]): number {
  let length = 0;
  for (const parameter of parameters) {
    if (typeof parameter === "string") length += parameter.length;
    else if (ArrayBuffer.isView(parameter)) length += parameter.byteLength;
  }
  return length;
}

/** What the threads of this process share, by file. */
const turnMemories = new Map<string, SharedArrayBuffer>();

/** For a thread that starts to write a file, perhaps replacing one that died during its turn, or while it waited. */
export function writerData(path: string, isReplacement = false): WriterData {
  const turn = turnMemories.get(path) ?? new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  turnMemories.set(path, turn);
  if (isReplacement) {
    const memory = new Int32Array(turn);
    Atomics.store(memory, turnStateAt, turnFree);
    Atomics.store(memory, turnWaitingAt, 0);
  }
  return { path, turn };
}

/** Lets threads that write one file wait for each other, as a locked file has to be tried again and again. */
export type WriteTurn = ReturnType<typeof createWriteTurn>;

export function createWriteTurn(shared: SharedArrayBuffer, { givesWay = false } = {}) {
  const memory = new Int32Array(shared);
  let isMine = false;

  function takeBefore(untilMs: number): void {
    for (;;) {
      // The number is negative if a thread was replaced meanwhile.
      const waiting = givesWay ? Math.max(Atomics.load(memory, turnWaitingAt), 0) : 0;
      isMine =
        waiting === 0 && Atomics.compareExchange(memory, turnStateAt, turnFree, turnTaken) === turnFree;
      const leftMs = untilMs - performance.now();
      if (isMine || leftMs <= 0) return;
      if (waiting > 0) Atomics.wait(memory, turnWaitingAt, waiting, leftMs);
      else Atomics.wait(memory, turnStateAt, turnTaken, leftMs);
    }
  }

  return {
    /** Whether the other threads go first, even those that came later, as no one waits for this thread's writes. */
    givesWay,
    /** Blocks the thread until it is its turn, but not for long: SQLite's lock decides who writes. */
    take(): void {
      if (!givesWay) Atomics.add(memory, turnWaitingAt, 1);
      takeBefore(performance.now() + turnPatienceMs);
      if (givesWay) return;
      Atomics.sub(memory, turnWaitingAt, 1);
      Atomics.notify(memory, turnWaitingAt);
    },
    give(): void {
      if (!isMine) return;
      isMine = false;
      Atomics.store(memory, turnStateAt, turnFree);
      // Wakes all: waking only one that gives way would leave the others asleep.
      Atomics.notify(memory, turnStateAt);
    },
  };
}
