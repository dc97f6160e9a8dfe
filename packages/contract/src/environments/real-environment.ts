import { z } from "zod";
import { instant } from "../text.ts";

const RealFailure = z.object({
  at: instant.meta({ description: "When it was." }),
  category: z.enum(["unavailable", "timeout", "refused", "invalid", "too_large"]).meta({
    description:
      "`refused`: it did not take a message or the key. `invalid`: it answered against its protocol. `too_large`: it sent more than 1 MiB at once.",
  }),
  message: z.string().meta({ description: "What happened. Without texts of the other side." }),
});

/** A real environment that the operator has declared. */
export const RealEnvironmentStatus = z
  .object({
    name: z.string().meta({ description: "Its name in the file." }),
    protocol: z.enum(["openenv", "ors", "http"]).meta({
      description: "OpenEnv, the Open Reward Standard, or Presage's own episodes.",
    }),
    in_flight: z.int().meta({ description: "Episodes that the answering process plays there now." }),
    max_in_flight: z.int().meta({ description: "How many it plays there at most." }),
    last_failure: RealFailure.nullable().meta({ description: "Null: it has not failed." }),
  })
  .meta({ id: "RealEnvironmentStatus" });
export type RealEnvironmentStatus = z.infer<typeof RealEnvironmentStatus>;

/** Response of `GET /v1/real-environments`. */
export const RealEnvironmentListResponse = z
  .object({ data: z.array(RealEnvironmentStatus).meta({ description: "In the order of the file." }) })
  .meta({ id: "RealEnvironmentListResponse" });
export type RealEnvironmentListResponse = z.infer<typeof RealEnvironmentListResponse>;
