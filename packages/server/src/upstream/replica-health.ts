export type ReplicaState = "up" | "ejected" | "returning";

const failuresToEject = 3;
const minOutMs = 5_000;
const maxOutMs = 60_000;
/** A replica that has been up for this long is again ejected for the shortest time. */
const forgivenAfterMs = 60_000;

/** Why a replica was ejected, for the log. */
export interface EjectionReason {
  /** The reason of a failed connection, `timeout`, `status`, or `not_a_completion`. */
  reason: string;
  status?: number | undefined;
}

interface Failure {
  /** Whether the replica may be ejected now. */
  mayEject(): boolean;
  /** Whether a kept connection may be to blame. */
  mayBeStale?: boolean;
  why?: EjectionReason;
}

/** `why` is given with `ejected`. */
export type OnReplicaChange = (state: ReplicaState, why?: EjectionReason) => void;

/** Whether a replica may be asked, judging by the outcomes of its calls. Callers pass the time, so that tests can control it. */
export type ReplicaHealth = ReturnType<typeof createReplicaHealth>;

/**
 * Three failures in a row eject a replica, for 5 s and twice as long each time, up to 60 s. After that a probe must be answered and
 * then one live call; the replica is up from there.
 */
export function createReplicaHealth(onChange: OnReplicaChange = () => {}) {
  let state: ReplicaState = "up";
  let failures = 0;
  let certainFailures = 0;
  let ejections = 0;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  let outMs = 0;

  function enter(next: ReplicaState, nowMs: number, why?: EjectionReason): void {
    state = next;
    changedAtMs = nowMs;
    onChange(next, why);
  }

  function eject(nowMs: number, why: EjectionReason | undefined): void {
    const isForgiven = state === "up" && nowMs - changedAtMs >= forgivenAfterMs;
    outMs = isForgiven || outMs === 0 ? minOutMs : Math.min(maxOutMs, outMs * 2);
    ejections += 1;
    enter("ejected", nowMs, why);
  }

  return {
    state: (): ReplicaState => state,
    hasFailed: () => failures > 0,
    /** Whether its last calls all failed, though it may not have been ejected. */
    isFailing: () => failures >= failuresToEject,
    /** The same, but a reset of a kept connection does not count: it may have been the connection's fault. */
    isDown: () => certainFailures >= failuresToEject,
    ejections: () => ejections,
    /** A call that began at this time was answered. */
    answered(beganAtMs: number, nowMs: number): void {
      // A call that began before the replica was ejected says nothing about it now.
      if (state !== "up" && beganAtMs < changedAtMs) return;
      failures = 0;
      certainFailures = 0;
      if (state !== "up") enter("up", nowMs);
    },
    /** A call that began at this time reached no server, or one that cannot serve. */
    failed(beganAtMs: number, nowMs: number, { mayEject, mayBeStale = false, why }: Failure): void {
      failures += 1;
      if (!mayBeStale) certainFailures += 1;
      if (state === "ejected" || (state === "returning" && beganAtMs < changedAtMs)) return;
      if (state === "returning" || (failures >= failuresToEject && mayEject())) eject(nowMs, why);
    },
    /** Whether its time out is over, so that a probe should say if it is back. */
    isProbeDue: (nowMs: number): boolean => state === "ejected" && nowMs - changedAtMs >= outMs,
    probed(isAlive: boolean, nowMs: number): void {
      if (state !== "ejected") return;
      if (isAlive) enter("returning", nowMs);
      else {
        outMs = Math.min(maxOutMs, outMs * 2);
        changedAtMs = nowMs;
      }
    },
  };
}
