import { beforeAll, expect, test } from "bun:test";
import { KeyScope, Role } from "@presage/contract";
import { askEveryRoute, fillIn } from "../support/presage/ask-every-route.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { makeKey, makeUser, signInAddressOf } from "../support/sign-in/make-user.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { isWholeRun } from "../support/whole-run.ts";

interface Row {
  roles: Role[];
  /** The scope that a key with scopes needs. */
  scope?: KeyScope;
  routes: string;
}

/** Each route once, with who may call it. docs/operate/access.md says the same in words. */
const table: Row[] = [
  {
    roles: ["owner", "member", "viewer"],
    routes: `
      GET /v1/me
      GET /v1/whoami
      GET /v1/models
      GET /v1/models/*
      POST /auth/sign-out`,
  },
  {
    roles: ["owner", "member", "viewer"],
    scope: "read",
    routes: `
      GET /v1/apps
      GET /v1/comparisons
      GET /v1/comparisons/samples
      GET /v1/datasets
      GET /v1/datasets/:id
      GET /v1/datasets/:id/export
      GET /v1/datasets/:id/revisions
      GET /v1/datasets/:id/samples
      GET /v1/datasets/:id/trajectories
      GET /v1/datasets/:id/trajectories/:trajectory_id
      GET /v1/deployments
      GET /v1/real-environments
      GET /v1/reality-checks
      GET /v1/reality-checks/:id
      GET /v1/reality-checks/:id/episodes
      GET /v1/episodes/:id/reality
      GET /v1/environments/:name/reality
      GET /v1/worlds
      GET /v1/worlds/:name
      GET /v1/worlds/:name/revisions
      POST /v1/worlds/:name/preview
      GET /v1/environments
      GET /v1/environments/:name
      GET /v1/environments/:name/revisions
      GET /v1/environments/:name/tasks
      GET /v1/episodes
      GET /v1/episodes/:id
      GET /v1/episodes/export
      GET /v1/episodes/figures
      GET /v1/error-taxonomy-revision
      GET /v1/error-taxonomy-revision/:revision_id
      GET /v1/error-taxonomy-revision/:revision_id/findings
      GET /v1/error-taxonomy-revision/:revision_id/recent-findings
      GET /v1/evaluation-results/:id
      GET /v1/evaluation-results/export
      GET /v1/evaluation-results/tags
      POST /v1/evaluation-results/review
      POST /v1/evaluation-results/search
      POST /v1/evaluation-results/summary
      GET /v1/evaluation-result-deletions/:id
      GET /v1/evaluator-criteria
      GET /v1/evaluator-criteria/:public_id/agreement
      GET /v1/evaluator-criteria/:public_id/disagreements
      GET /v1/evaluator-families
      GET /v1/evaluator-profiles
      GET /v1/evaluator-profiles/:public_id/agreement
      GET /v1/evaluator-profiles/:public_id/disagreements
      GET /v1/evaluators
      GET /v1/experiments
      GET /v1/experiments/:id
      GET /v1/predictions
      GET /v1/predictions/:id
      GET /v1/predictions/count
      GET /v1/predictions/export
      GET /v1/predictions/values
      GET /v1/projects
      GET /v1/projects/:id
      GET /v1/goals
      GET /v1/headlines
      GET /v1/runs
      GET /v1/runs/:id
      GET /v1/runs/:id/calibration
      GET /v1/worlds/:name/calibration
      GET /v1/worlds/:name/coverage
      GET /v1/runs/:id/label-samples
      GET /v1/agreement
      GET /v1/evaluation-results/:id/labels
      GET /v1/runs/:id/events
      GET /v1/runs/:id/export
      GET /v1/runs/:id/report
      GET /v1/runs/:id/samples
      GET /v1/shares
      GET /v1/usage
      GET /v1/usage/latency
      GET /v1/usage/people
      GET /v1/budgets`,
  },
  {
    roles: ["owner", "member"],
    scope: "predict",
    routes: `
      POST /v1/predict
      POST /v1/chat/completions
      POST /v1/episodes
      POST /v1/episodes/:id/step
      DELETE /v1/episodes/:id
      GET /v1/environments/:name/openenv/health
      GET /v1/environments/:name/openenv/metadata
      GET /v1/environments/:name/openenv/openapi.json
      GET /v1/environments/:name/openenv/schema
      GET /v1/environments/:name/openenv/ws
      POST /v1/environments/:name/openenv/mcp
      GET /v1/environments/:name/openenv/list_environments
      GET /v1/environments/:name/openenv/:env_name/splits
      POST /v1/environments/:name/openenv/:env_name/tasks
      POST /v1/environments/:name/openenv/:env_name/num_tasks
      POST /v1/environments/:name/openenv/:env_name/task
      POST /v1/environments/:name/openenv/:env_name/task_range
      GET /list_environments
      POST /create_session
      POST /create
      POST /ping
      POST /delete
      POST /delete_session
      GET /tools
      GET /task_tools
      GET /splits
      GET /prompt
      POST /tasks
      POST /num_tasks
      POST /task
      POST /task_range
      POST /call
      GET /:env/tools
      GET /:env/task_tools
      GET /:env/splits
      GET /:env/prompt
      POST /:env/tasks
      POST /:env/num_tasks
      POST /:env/task
      POST /:env/task_range
      POST /:env/call`,
  },
  {
    roles: ["owner", "member"],
    scope: "evaluate",
    routes: `
      POST /v1/evaluate
      GET /v1/imports/formats
      POST /v1/imports/preview
      POST /v1/evaluation-results/batch
      POST /v1/evaluations/batch
      POST /v1/evaluation-results/:id/correction
      DELETE /v1/evaluation-results/:id/correction
      POST /v1/evaluation-results/:id/labels
      POST /v1/evaluation-labels
      POST /v1/runs/:id/label-sample
      POST /v1/evaluator-criteria
      POST /v1/evaluator-criteria/:public_id/revision
      PATCH /v1/evaluator-criteria/:public_id/archive
      POST /v1/evaluator-profiles
      POST /v1/evaluator-profiles/:public_id/revision
      PATCH /v1/evaluator-profiles/:public_id/archive
      POST /v1/error-taxonomy-revision
      POST /v1/error-taxonomy-revision/:revision_id/set-labels
      POST /v1/error-taxonomy-revision/:revision_id/remove-labels
      POST /v1/projects
      POST /v1/experiments
      POST /v1/experiments/:id
      POST /v1/datasets
      DELETE /v1/datasets/:id
      POST /v1/datasets/:id/revisions
      PUT /v1/goals/:run_name
      DELETE /v1/goals/:run_name
      POST /v1/runs
      DELETE /v1/runs/:id
      POST /v1/runs/:id/evaluators
      POST /v1/runs/:id/predictions
      POST /v1/runs/:id/cancel
      POST /v1/runs/:id/pause
      POST /v1/runs/:id/resume
      POST /v1/runs/:id/finish
      POST /v1/shares
      DELETE /v1/shares/:id
      POST /v1/reality-checks
      DELETE /v1/reality-checks/:id
      POST /v1/reality-checks/:id/cancel
      POST /v1/reality-checks/:id/resume
      POST /v1/reality-checks/:id/run
      POST /v1/worlds
      POST /v1/worlds/:name/calibrations
      PATCH /v1/worlds/:name
      DELETE /v1/worlds/:name
      POST /v1/environments
      PATCH /v1/environments/:name
      DELETE /v1/environments/:name
      POST /v1/environments/:name/tasks`,
  },
  {
    // The caller's own.
    roles: ["owner", "member", "viewer"],
    scope: "manage",
    routes: `
      GET /v1/api-keys
      POST /v1/api-keys
      PATCH /v1/api-keys/:key_id
      DELETE /v1/api-keys/:key_id
      GET /v1/sessions
      DELETE /v1/sessions/:session_id`,
  },
  {
    roles: ["owner"],
    scope: "manage",
    routes: `
      GET /v1/members
      PATCH /v1/budgets
      PATCH /v1/members/:user_id
      GET /v1/audit-events
      DELETE /v1/evaluation-results
      DELETE /v1/evaluation-results/:id
      DELETE /v1/predictions
      DELETE /v1/predictions/:id`,
  },
];

/** Routes that need no caller; without a token they answer like routes that do. */
const waysIn = ["POST /auth/local"];
/** Routes that refuse sessions. */
const onlyForKeys = /openenv|^\w+ \/(?!v1\/|auth\/)/;

/** Keys with a single scope show which one a route needs. */
const scopeSets: (KeyScope[] | null)[] = [null, ...KeyScope.options.map((scope) => [scope])];
if (isWholeRun)
  scopeSets.push(...KeyScope.options.map((scope) => KeyScope.options.filter((other) => other !== scope)), [
    ...KeyScope.options,
  ]);

type Outcome = "allowed" | "refused by role" | "refused by scope" | "not authenticated";

const expectations = table.flatMap(({ routes, ...row }) =>
  routes
    .trim()
    .split("\n")
    .map((route) => ({ route: route.trim(), ...row })),
);

onAnyDatabase((database) => {
  const presage = usePresage({ database });
  const callers: {
    role: Role;
    scopes: KeyScope[] | null;
    isSession: boolean;
    headers: Record<string, string>;
  }[] = [];

  beforeAll(async () => {
    await using store = await openStore(presage.databaseUrl);
    for (const role of Role.options) {
      const userId = await makeUser(store, role);
      for (const scopes of scopeSets)
        callers.push({ role, scopes, isSession: false, headers: await makeKey(store, userId, scopes) });
      const signInAddress = await signInAddressOf(store, presage.url, userId);
      const browser = await signInLocally({ url: presage.url, signInAddress });
      const { headers } = await sessionOf(browser, presage.databaseUrl);
      callers.push({ role, scopes: null, isSession: true, headers });
    }
  });

  async function outcomeOf(route: string, headers: Record<string, string>): Promise<Outcome> {
    const [method = "", path = ""] = route.split(" ");
    const body = method === "GET" ? undefined : {};
    const response = await presage.call(method, fillIn(path), body, headers);
    if (response.status === 401) return "not authenticated";
    if (response.status !== 403) return "allowed";
    const { detail } = (await response.json()) as { detail: string };
    if (/^Your role is /.test(detail)) return "refused by role";
    return /^This API key does not have the scope /.test(detail) ? "refused by scope" : "allowed";
  }

  test("the table has every route that needs a caller, once", async () => {
    const closed = [...(await askEveryRoute(presage))].flatMap(([route, status]) =>
      status === 401 && !waysIn.includes(route) ? [route] : [],
    );
    expect(expectations.map(({ route }) => route).sort()).toEqual(closed.sort());
  });

  test("each route lets in each role and each set of scopes as the table says, and nobody else", async () => {
    // The route that ends its caller's session comes last.
    const inOrder = expectations.toSorted(
      (a, b) => Number(a.route.includes("out")) - Number(b.route.includes("out")),
    );
    const wrong: string[] = [];
    for (const { route, roles, scope } of inOrder)
      await Promise.all(
        callers.map(async ({ role, scopes, isSession, headers }) => {
          const outcome = await outcomeOf(route, headers);
          let expected: Outcome = "allowed";
          if (isSession && onlyForKeys.test(route)) expected = "not authenticated";
          else if (!roles.includes(role)) expected = "refused by role";
          else if (scope !== undefined && scopes !== null && !scopes.includes(scope))
            expected = "refused by scope";
          if (outcome !== expected)
            wrong.push(
              `${route} ${role} ${scopes ?? (isSession ? "session" : "all")}: ${outcome}, not ${expected}`,
            );
        }),
      );
    expect(wrong).toEqual([]);
  });
});
