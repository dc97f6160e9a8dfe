/** Servers close kept connections after 5 s (uvicorn, Node.js) or later. */
const maxIdleMs = 4_000;
/** In flight there may be any number. */
const maxIdle = 2_048;
const tickMs = 5;
/**
 * How many ticks a connection rests before it is reused. Nothing in HTTP/1.1 says which request a response belongs to, so an unsolicited one
 * has to arrive while no caller waits. Each tick is a turn of the event loop, which reads whatever has arrived.
 */
const restTicks = 3;

export interface IdleConnection {
  isClosed: boolean;
  /** Its last response ended then. */
  idleSinceTick: number;
  idleSinceMs: number;
}

interface IdleConnections<Connection extends IdleConnection> {
  /** The connection that was used last among those that have rested. */
  take(): Connection | undefined;
  add(connection: Connection): void;
}

/** Connections that wait for a next call, of one origin. `close` is called for those that have waited too long, or are too many. */
export function keepIdle<Connection extends IdleConnection>(
  close: (connection: Connection) => void,
): IdleConnections<Connection> {
  /** Both oldest first. */
  const resting: Connection[] = [];
  const rested: Connection[] = [];
  let tick = 0;
  let timer: { isSlow: boolean; stop(): void } | undefined;

  function schedule(isSlow: boolean): void {
    timer?.stop();
    const timeout = setTimeout(onTick, isSlow ? maxIdleMs / 4 : tickMs);
    timeout.unref();
    timer = { isSlow, stop: () => clearTimeout(timeout) };
  }

  function onTick(): void {
    timer = undefined;
    tick += 1;
    const stillResting = resting.findIndex(({ idleSinceTick }) => tick - idleSinceTick < restTicks);
    const ready = resting.splice(0, stillResting < 0 ? resting.length : stillResting);
    for (const one of ready) if (!one.isClosed) rested.push(one);
    const oldestMs = performance.now() - maxIdleMs;
    const young = rested.findIndex(({ idleSinceMs }) => idleSinceMs > oldestMs);
    for (const old of rested.splice(0, young < 0 ? rested.length : young)) close(old);
    if (resting.length > 0) schedule(false);
    else if (rested.length > 0) schedule(true);
  }

  return {
    take() {
      for (let last = rested.pop(); last !== undefined; last = rested.pop()) {
        if (last.isClosed) continue;
        // A process that stood still has not ticked.
        if (performance.now() - last.idleSinceMs < maxIdleMs) return last;
        close(last);
      }
      return undefined;
    },
    add(connection) {
      if (resting.length + rested.length >= maxIdle) {
        close(connection);
        return;
      }
      connection.idleSinceTick = tick;
      connection.idleSinceMs = performance.now();
      resting.push(connection);
      if (timer === undefined || timer.isSlow) schedule(false);
    },
  };
}
