import type { AuditAction } from "@presage/sdk";
import { type PeriodSearch, readPeriodSearch } from "../../format/times.ts";
import { readTableSearch, type TableSearch } from "../../ui/data-table/table-view.ts";

/** The search parameters of the audit log. */
interface AuditLogSearch extends TableSearch, PeriodSearch {
  action?: AuditAction;
  /** The id of the changed object. */
  object?: string;
  /** The id of the user who made the change. */
  user?: string;
}

const isUserId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Reads the address; invalid values are ignored. */
export function readAuditLogSearch(search: Record<string, unknown>): AuditLogSearch {
  const { action, object, user } = search;
  return {
    ...readTableSearch(search),
    ...readPeriodSearch(search),
    ...(typeof action === "string" && isAuditAction(action) && { action }),
    ...(typeof object === "string" && object !== "" && { object: object.slice(0, 200) }),
    ...(typeof user === "string" && isUserId.test(user) && { user }),
  };
}

/** Descriptions of the actions in words. */
export const actionWords: Record<AuditAction, string> = {
  "api_key.create": "Created an API key",
  "api_key.update": "Changed an API key",
  "budget.set": "Set a budget",
  "budget.remove": "Removed a budget",
  "api_key.revoke": "Revoked an API key",
  "dataset.create": "Created a dataset",
  "dataset.delete": "Deleted a dataset",
  "dataset.add_revision": "Added a revision to a dataset",
  "dataset.remove_revision": "Took back a revision of a dataset",
  "goal.set": "Set a goal of runs",
  "goal.remove": "Removed a goal of runs",
  "environment.create": "Created an environment",
  "environment.revise": "Revised an environment",
  "environment.add_tasks": "Added tasks to an environment",
  "environment.delete": "Deleted an environment",
  "episode.delete": "Deleted an episode",
  "error_taxonomy.add_revision": "Added a revision to a taxonomy",
  "error_taxonomy.set_labels": "Set labels of a taxonomy",
  "error_taxonomy.remove_labels": "Removed labels of a taxonomy",
  "evaluation_result.correct": "Corrected a result",
  "evaluation_result.delete": "Deleted results",
  "evaluation_result.draw": "Drew results to label",
  "evaluation_result.label": "Labelled results",
  "evaluation_result.withdraw_correction": "Withdrew a correction",
  "evaluator_profile.create": "Created a profile",
  "evaluator_profile.revise": "Revised a profile",
  "evaluator_profile.archive": "Archived a profile",
  "experiment.create": "Created an experiment",
  "experiment.update": "Changed an experiment",
  "prediction.delete": "Deleted predictions",
  "project.create": "Created a project",
  "reality_check.create": "Created a reality check",
  "reality_check.cancel": "Cancelled a reality check",
  "reality_check.delete": "Deleted a reality check",
  "reality_check.resume": "Resumed a reality check",
  "run.create": "Created a run",
  "run.add_evaluators": "Added evaluators to a run",
  "run.add_predictions": "Uploaded a run's predictions",
  "run.pause": "Paused a run",
  "run.resume": "Resumed a run",
  "run.finish": "Finished a run without what was missing",
  "run.cancel": "Cancelled a run",
  "run.delete": "Deleted a run",
  "share.create": "Made a link",
  "share.revoke": "Revoked a link",
  "session.start": "Signed in",
  "session.end": "Ended a session",
  "user.create": "Joined the account",
  "user.change_account": "Moved between accounts",
  "user.change_role": "Changed a role",
  "user.create_sign_in_link": "Made a sign-in link",
  "user.end_access": "Ended all access of a user",
  "user.erase": "Deleted a user",
  "world.create": "Created a world",
  "world.revise": "Revised a world",
  "world.delete": "Deleted a world",
};

const isAuditAction = (text: string): text is AuditAction => Object.hasOwn(actionWords, text);
