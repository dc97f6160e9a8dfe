import { addressInUseError, listenAddress, probeAddress } from "./listen.ts";

/** Keeps other supervisors from the address until it is released or the process ends. */
export interface HeldAddress {
  release(): void;
}

/**
 * Makes sure that no other process listens at the address, or throws a `ListenError`. Workers share their port (SO_REUSEPORT), so the
 * system would let those of a second server join them. A first look without it finds everybody who listens already; a name of the
 * abstract namespace, which the system releases with the process, keeps two supervisors from looking at once.
 */
export async function holdAddress({ host, port }: { host: string; port: number }): Promise<HeldAddress> {
  // The system gives the first worker a free port.
  if (port === 0) return { release() {} };
  const lock = takeName(`presage ${listenAddress(host, port)}`);
  if (lock === undefined) throw addressInUseError(host, port);
  try {
    await probeAddress({ host, port });
  } catch (error) {
    lock.stop(true);
    throw error;
  }
  return { release: () => lock.stop(true) };
}

function takeName(name: string): { stop(closeActive: boolean): void } | undefined {
  try {
    return Bun.listen({ unix: `\0${name}`, socket: { data() {} } });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}
