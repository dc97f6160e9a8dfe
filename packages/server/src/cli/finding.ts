/** What a check found. */
export interface Finding {
  check:
    | "versions"
    | "configuration"
    | "database"
    | "clock"
    | "disk"
    | "upstream"
    | "judge"
    | "provider"
    | "redis";
  /** `off`: nothing to check, as nothing is configured. */
  state: "good" | "bad" | "off";
  /** Without a secret. */
  text: string;
}

/** The finding of a check, or that it had no answer in time. */
export async function inTime(
  check: Finding["check"],
  finding: Promise<Finding | Finding[]>,
  timeoutMs = 10_000,
): Promise<Finding[]> {
  const late = Promise.withResolvers<Finding[]>();
  const text = `no answer within ${timeoutMs / 1000} s; look at the network between this machine and that one`;
  const timer = setTimeout(() => late.resolve([{ check, state: "bad", text }]), timeoutMs);
  try {
    return await Promise.race([finding.then((found) => [found].flat()), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
