import { keyOfAnotherAccount } from "../resources/other-account.ts";
import { startUpstream, type TestUpstream } from "../upstream/upstream.ts";
import { startPresage, type TestPresage, testKey } from "./presage.ts";

/** A server used by two accounts, and its upstream. */
export interface PresageWithTwoAccounts extends AsyncDisposable {
  presage: TestPresage;
  upstream: TestUpstream;
  /** A call from the owner's account. */
  mine(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
  /** A call from the other account. */
  theirs(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
}

export async function startPresageWithTwoAccounts(
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<PresageWithTwoAccounts> {
  const upstream = startUpstream();
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_UPSTREAM_RETRIES: "0",
    ...environment,
  });
  const otherKey = await keyOfAnotherAccount(databaseUrl);
  const callWith =
    (key: string) =>
    (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> =>
      fetch(presage.url + path, {
        method,
        headers: { "x-api-key": key },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
  return {
    presage,
    upstream,
    mine: callWith(testKey),
    theirs: callWith(otherKey),
    async [Symbol.asyncDispose]() {
      await presage.stop();
      await upstream.stop();
    },
  };
}
