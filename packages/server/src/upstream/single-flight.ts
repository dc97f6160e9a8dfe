import { orAborted } from "../platform/limits/deadline.ts";

/** Work that several callers wait for, done once. */
export interface SingleFlight<Value> {
  /**
   * Waits for the work under way for this key, or begins it. A caller leaves when its own signal is aborted; the work's signal
   * is aborted when the last one has left, with the reason of that. A failure goes to all who wait.
   */
  join(
    key: string,
    signal: AbortSignal,
    begin: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Landed<Value>>;
}

export interface Landed<Value> {
  value: Value;
  /** Whether no other caller has been given this value. */
  isFirst: boolean;
}

interface Flight<Value> {
  work: Promise<Value>;
  controller: AbortController;
  waiting: number;
  isOver: boolean;
  isTaken: boolean;
}

export function createSingleFlight<Value>(): SingleFlight<Value> {
  const flights = new Map<string, Flight<Value>>();

  function end(key: string, flight: Flight<Value>): void {
    flight.isOver = true;
    if (flights.get(key) === flight) flights.delete(key);
  }

  function start(key: string, begin: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const controller = new AbortController();
    const work = begin(controller.signal);
    const flight = { work, controller, waiting: 0, isOver: false, isTaken: false };
    flights.set(key, flight);
    const onEnd = () => end(key, flight);
    work.then(onEnd, onEnd);
    return flight;
  }

  async function wait(key: string, flight: Flight<Value>, signal: AbortSignal): Promise<Landed<Value>> {
    flight.waiting += 1;
    try {
      const value = await orAborted(flight.work, signal);
      const isFirst = !flight.isTaken;
      flight.isTaken = true;
      return { value, isFirst };
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0 && !flight.isOver) {
        // At once, so that no one joins what is being aborted.
        end(key, flight);
        flight.controller.abort(signal.reason);
      }
    }
  }

  return {
    // Not passed on to `wait`: `begin` holds a request, and thousands may wait.
    join: (key, signal, begin) => wait(key, flights.get(key) ?? start(key, begin), signal),
  };
}
