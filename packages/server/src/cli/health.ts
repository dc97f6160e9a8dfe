import { listenAddress } from "../app/listen.ts";
import type { Config } from "../config/config.ts";
import { CommandError } from "./command-error.ts";

const everyAddress = new Set(["0.0.0.0", "::"]);

/** Succeeds if the server on this machine is ready: for images, which have no other program to ask with. */
export async function checkHealth({ listen: { host, port } }: Config): Promise<void> {
  const url = `${listenAddress(everyAddress.has(host) ? "127.0.0.1" : host, port)}/ready`;
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
  if (response?.ok === true) return;
  throw new CommandError(
    response === undefined ? `Nothing answers at ${url}.` : `${url} has status ${response.status}.`,
  );
}
