/** The level of errors in pino; fatal errors are above it. */
const errorLevel = 50;

export interface LoggedError {
  what: string;
  requestId: string | undefined;
}

/** The errors that a server logged. */
export function findLoggedErrors(log: string): LoggedError[] {
  return log.split("\n").flatMap((line) => {
    const entry = parse(line);
    if (entry === undefined || Number(entry.level) < errorLevel) return [];
    const { type, message } = (entry.err ?? {}) as Record<string, unknown>;
    const what = `logged: ${String(entry.msg)}${type === undefined ? "" : `: ${type}: ${message}`}`;
    return [{ what, requestId: typeof entry.requestId === "string" ? entry.requestId : undefined }];
  });
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
