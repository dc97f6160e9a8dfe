import { z } from "zod";

/** Response of `GET /health` and `GET /ready`. */
export const HealthResponse = z
  .object({ status: z.string().meta({ description: "ok, ready, starting or stopping." }) })
  .meta({ id: "HealthResponse" });
export type HealthResponse = z.infer<typeof HealthResponse>;
