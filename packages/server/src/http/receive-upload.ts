import { ClientDisconnectedError, UploadError } from "../platform/errors.ts";
import { reserveBytesAnyway } from "../platform/limits/memory.ts";
import { itemOfTurn } from "../platform/limits/turns.ts";
import { type CallWithCaller, closeWhenIdle, keepOpen } from "./call.ts";
import { reserveUpload } from "./memory.ts";
import { InvalidRequestError, valueError } from "./validate.ts";

const lineFeed = 0x0a;
/** Longer lines are read in parts, or refused. */
const longestLine = 16 * 1024 * 1024;

/** Passes the lines of a request's body to `store` as they arrive. A wrong line is an issue at its number. */
export async function receiveUpload<Result>(
  call: CallWithCaller,
  store: (body: AsyncGenerator<Uint8Array, void>, options: { isGzip: boolean }) => Promise<Result>,
): Promise<Result> {
  const isGzip = readIsGzip(call.request.headers);
  // Stays open until it is the upload's turn.
  keepOpen(call);
  try {
    return await store(chunksOf(call, isGzip), { isGzip });
  } catch (error) {
    if (!(error instanceof UploadError)) throw error;
    throw new InvalidRequestError(issuesOf(error), error);
  } finally {
    keepOpen(call);
    reserveBytesAnyway(call.exchange, 0);
  }
}

/** An issue for each of the first faults. If there are several, the first one says how many. */
function issuesOf({ faults, total }: UploadError) {
  return faults.map(({ line, unit = "line", path, reason, file, type, ctx }, index) => {
    const loc = ["body", ...(line === undefined ? [] : [unit, line]), ...path];
    const issue = type === undefined ? valueError(loc, reason) : { type, loc, msg: reason };
    const more = {
      ...ctx,
      ...(file === undefined ? {} : { file }),
      ...(index === 0 && total > 1 ? { faults: total } : {}),
    };
    return Object.keys(more).length === 0
      ? issue
      : { ...issue, ctx: { ...("ctx" in issue ? issue.ctx : {}), ...more } };
  });
}

function readIsGzip(headers: Headers): boolean {
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  if (encoding === "identity") return false;
  throw new InvalidRequestError([
    valueError(["header", "content-encoding"], "Input should be gzip or identity", encoding),
  ]);
}

/** The body as it arrives. While none arrives, the connection may become idle; while some is being stored, the client waits for the server. */
async function* chunksOf(call: CallWithCaller, isGzip: boolean): AsyncGenerator<Uint8Array, void> {
  const { body } = call.request;
  if (body === null) return;
  const reader = body.getReader();
  let lineBytes = 0;
  try {
    for (;;) {
      closeWhenIdle(call);
      const { done, value } = await reader.read().catch(() => {
        // Reading a body fails only if the connection does.
        throw new ClientDisconnectedError();
      });
      keepOpen(call);
      if (done) return;
      const end = value.lastIndexOf(lineFeed);
      lineBytes = end < 0 ? lineBytes + value.length : value.length - end - 1;
      reserveUpload(call.exchange, Math.min(lineBytes, longestLine), isGzip);
      yield value;
      // What arrives meanwhile becomes one piece.
      const turn = itemOfTurn();
      if (turn !== undefined) await turn;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
