import { z } from "zod";
import { listOf, pageQuery } from "../query.ts";
import { dateTime, instant, shortText, string, stringOrNull } from "../text.ts";

/** What was done. The part before the dot is the kind of object; the event has the object's id. */
export const AuditAction = z.enum([
  "api_key.create",
  "api_key.update",
  "api_key.revoke",
  "budget.set",
  "budget.remove",
  "dataset.create",
  "dataset.delete",
  "dataset.add_revision",
  "dataset.remove_revision",
  "environment.create",
  "environment.revise",
  "environment.add_tasks",
  "environment.delete",
  "episode.delete",
  "error_taxonomy.add_revision",
  "error_taxonomy.set_labels",
  "error_taxonomy.remove_labels",
  "evaluation_result.correct",
  "evaluation_result.delete",
  "evaluation_result.draw",
  "evaluation_result.label",
  "evaluation_result.withdraw_correction",
  "evaluator_profile.create",
  "evaluator_profile.revise",
  "evaluator_profile.archive",
  "experiment.create",
  "experiment.update",
  "prediction.delete",
  "goal.set",
  "goal.remove",
  "project.create",
  "reality_check.create",
  "reality_check.cancel",
  "reality_check.delete",
  "reality_check.resume",
  "run.create",
  "run.add_evaluators",
  "run.add_predictions",
  "run.pause",
  "run.resume",
  "run.finish",
  "run.cancel",
  "run.delete",
  "share.create",
  "share.revoke",
  "session.start",
  "session.end",
  "user.create",
  "user.change_account",
  "user.change_role",
  "user.create_sign_in_link",
  "user.end_access",
  "user.erase",
  "world.create",
  "world.revise",
  "world.delete",
]);
export type AuditAction = z.infer<typeof AuditAction>;

/** How a change was made. */
export const AuditActorKind = z.enum(["api_key", "session", "sign_in", "command_line"]);
export type AuditActorKind = z.infer<typeof AuditActorKind>;

/** Who changed what, and when. */
export const AuditEvent = z
  .object({
    id: z.uuid().meta({ description: "The event's id." }),
    created_at: instant.meta({ description: "When it happened." }),
    action: AuditAction.meta({ description: "What was done." }),
    object_id: string("The id of what it was done to; its kind is the part of `action` before the dot."),
    actor: z
      .object({
        kind: AuditActorKind.meta({
          description:
            "`api_key` or `session`: what authenticated the request; `sign_in`: the user, who signed in; `command_line`: `presage` on the server's machine.",
        }),
        user_id: stringOrNull("Whose key or session it is; null for the command line."),
        email: stringOrNull("The user's address now; null if it is not known, or the user is gone."),
        id: stringOrNull("The key's or session's id."),
        name: stringOrNull("The key's name; for the command line, the operating system's user."),
      })
      .meta({ description: "Who did it." }),
    request_id: stringOrNull("The `x-request-id` of the request, also in the log; null if there was none."),
    detail: z.record(z.string(), z.unknown()).meta({
      description: "A few words on what changed, such as names, scopes and counts; no texts and no secrets.",
    }),
    names: z.record(z.string(), z.string().nullable()).meta({
      description:
        "The current names of users, keys, runs, datasets, environments and the like, by their ids in this event; null for those that are gone or have none.",
    }),
  })
  .meta({ id: "AuditEvent" });
export type AuditEvent = z.infer<typeof AuditEvent>;

const objectId = shortText(200);

/** Query of `GET /v1/audit-events`. */
export const AuditEventListQuery = z.object({
  action: AuditAction.optional().meta({ description: "Only this action." }),
  actor_user_id: z
    .guid()
    .optional()
    .meta({ format: "uuid", description: "Only what this user did, with keys and sessions." }),
  object_id: objectId.optional().meta({ description: "Only what was done to this object." }),
  from: dateTime().optional().meta({ description: "From this time." }),
  to: dateTime().optional().meta({ description: "Before this time." }),
  ...pageQuery(),
});
export type AuditEventListQuery = z.infer<typeof AuditEventListQuery>;

/** Response of `GET /v1/audit-events`. */
export const AuditEventListResponse = listOf("AuditEventListResponse", AuditEvent, "Newest first.");
export type AuditEventListResponse = z.infer<typeof AuditEventListResponse>;
