import { createMiddleware } from "hono/factory";
import type { Admission } from "../identity/admission.ts";
import type { HttpEnv } from "./exchange.ts";
import { rateHeaders } from "./rate-headers.ts";

/** Lets a prediction in within the limits, and counts it as under way until it is answered. */
export function admit(admission: Admission) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const rate = admission.admit(c.get("caller").keyId);
    try {
      await next();
    } finally {
      admission.leave();
    }
    if (rate === undefined) return;
    for (const [name, value] of Object.entries(rateHeaders(rate))) c.res.headers.set(name, value);
  });
}
