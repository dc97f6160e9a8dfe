/**
 * First segments of paths that are Presage's own, or may become so: the API, pages, probes, and the paths of the Open Reward Standard
 * without an environment. That protocol has `/{environment}/…` at the root, so no environment has one of these names.
 */
const reserved: ReadonlySet<string> = new Set([
  // The API, probes, documents and files.
  ...["v1", "v2", "v3", "api", "health", "ready", "live", "metrics", "status", "version", "docs", "openapi"],
  ...["assets", "static", "public", "favicon", "robots", "sitemap", "manifest", "well-known"],
  // Signing in, and pages.
  ...["auth", "sign-in", "sign-out", "sign-up", "login", "logout", "oauth", "oidc", "account", "accounts"],
  ...["overview", "playground", "play", "predict", "predictions", "deployments", "models", "chat"],
  ...["runs", "run", "compare", "comparisons", "datasets", "trajectories", "reports", "report"],
  ...["evaluate", "evaluations", "evaluators", "evaluation-results", "error-taxonomies", "judges", "review"],
  ...["environments", "environment", "episodes", "tasks", "projects", "experiments", "apps", "leaderboard"],
  ...[
    "usage",
    "costs",
    "api-keys",
    "keys",
    "users",
    "teams",
    "members",
    "settings",
    "admin",
    "search",
    "help",
  ],
  // Other protocols.
  ...["ors", "openenv", "mcp", "ws", "rpc", "graphql", "webhooks"],
  ...["create", "ping", "delete", "call", "session", "sessions", "list-environments"],
]);

/** Whether no environment may have this name, as paths begin with it that are Presage's own. */
export function isReservedName(name: string): boolean {
  return reserved.has(name);
}
