import { z } from "zod";
import { CaptureSetting } from "../prediction/capture.ts";
import { roleField } from "./role.ts";

/** Response of `GET /v1/me`: the user that the caller's credential belongs to. */
export const MeResponse = z
  .object({
    id: z.uuid().meta({ description: "The user's id." }),
    email: z.string().nullable().optional().meta({
      description: "As the identity provider last reported it; null if it did not.",
    }),
    name: z.string().nullable().optional().meta({
      description: "As the identity provider last reported it; null if it did not.",
    }),
    oidc_issuer: z.string().meta({ description: "The identity provider; urn:presage:local in local mode." }),
    oidc_subject: z.string().meta({ description: "The user's subject (sub) at the identity provider." }),
    role: roleField,
    capture: z
      .object({
        setting: CaptureSetting.meta({
          description: "Which predictions are kept, unless their API key has its own setting.",
        }),
        max_age_days: z.int().meta({ description: "After how many days they are deleted." }),
      })
      .meta({ description: "What this server keeps of predictions." }),
    server_version: z.string().meta({ description: "The version of this server, as in its changelog." }),
  })
  .meta({ id: "MeResponse" });
export type MeResponse = z.infer<typeof MeResponse>;
