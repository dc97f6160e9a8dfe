import type { DatabaseConnection, Driver } from "kysely";
import pRetry from "p-retry";

/** How long a statement waits for another process to finish its write. */
const patienceMs = 5_000;
/** Whoever writes much leaves the file alone for longer than this, again and again. */
const longestPauseMs = 10;

/** Waits for a lock of another process between tries of a statement, not inside of SQLite, so that all else goes on. */
export function waitForLocks(driver: Driver): Driver {
  const acquireConnection = driver.acquireConnection.bind(driver);
  let patient: DatabaseConnection | undefined;
  driver.acquireConnection = async (...args) => {
    const connection = await acquireConnection(...args);
    // SQLite has one connection, and Kysely hands out the same object each time.
    patient ??= makePatient(connection);
    return patient;
  };
  return driver;
}

function makePatient(connection: DatabaseConnection): DatabaseConnection {
  const executeQuery = connection.executeQuery.bind(connection);
  connection.executeQuery = <Row>(...args: Parameters<typeof executeQuery>) =>
    // The driver throws where a promise would reject.
    pRetry(async () => await executeQuery<Row>(...args), {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: patienceMs,
      minTimeout: 5,
      maxTimeout: longestPauseMs,
      randomize: true,
      shouldRetry: ({ error }) => "code" in error && String(error.code).startsWith("SQLITE_BUSY"),
    });
  return connection;
}
