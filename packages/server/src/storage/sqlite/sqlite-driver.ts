import type { DatabaseConnection, Driver } from "kysely";
import pRetry from "p-retry";

/** How long a statement waits for another process to finish its write. */
const patienceMs = 5_000;
/** Whoever writes much leaves the file alone for longer than this, again and again. */
const longestPauseMs = 10;

/**
 * Waits for a lock of another process between tries of a statement, not inside of SQLite, so that all else goes on. Once one
 * has waited in vain, those who queued behind it meanwhile are tried once each: in turns, the last would wait for minutes.
 */
export function waitForLocks(driver: Driver, onAnswer: () => void): Driver {
  const acquireConnection = driver.acquireConnection.bind(driver);
  let patient: DatabaseConnection | undefined;
  let gaveUpAtMs = Number.NEGATIVE_INFINITY;
  let isPatient = true;

  driver.acquireConnection = async (...args) => {
    const askedAtMs = performance.now();
    const connection = await acquireConnection(...args);
    isPatient = askedAtMs > gaveUpAtMs;
    // SQLite has one connection, and Kysely hands out the same object each time.
    patient ??= makePatient(connection);
    return patient;
  };
  return driver;

  function makePatient(connection: DatabaseConnection): DatabaseConnection {
    const executeQuery = connection.executeQuery.bind(connection);
    connection.executeQuery = async <Row>(...args: Parameters<typeof executeQuery>) => {
      try {
        // The driver throws where a promise would reject.
        const result = await pRetry(async () => await executeQuery<Row>(...args), {
          retries: Number.POSITIVE_INFINITY,
          maxRetryTime: isPatient ? patienceMs : 0,
          minTimeout: 5,
          maxTimeout: longestPauseMs,
          randomize: true,
          shouldRetry: ({ error }) => isLocked(error),
        });
        onAnswer();
        return result;
      } catch (error) {
        if (isLocked(error)) gaveUpAtMs = performance.now();
        throw error;
      }
    };
    return connection;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}
