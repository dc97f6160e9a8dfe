/**
 * First segments of paths that are Presage's own, or may become so: the API, pages, probes, and the paths of the Open Reward Standard
 * without an environment. That protocol has `/{environment}/…` at the root, so no environment has one of these names.
 */
const reserved: ReadonlySet<string> = new Set([
  // The API, probes, documents and files.
  ...["v1", "v2", "v3", "api", "health", "ready", "live", "metrics", "status", "docs", "openapi"],
  ...["assets", "static", "favicon", "robots", "well-known"],
  // Signing in, and pages.
  ...["auth", "sign-in", "sign-out", "sign-up", "login", "logout", "oauth", "account", "settings", "admin"],
  ...["overview", "playground", "play", "predictions", "deployments", "models", "runs", "compare", "reports"],
  ...["datasets", "evaluations", "evaluators", "error-taxonomies", "review", "environments", "episodes"],
  ...["projects", "experiments", "apps", "usage", "api-keys", "users", "teams"],
  // Protocols.
  ...["ors", "openenv", "mcp", "ws", "create", "ping", "delete"],
  ...["tools", "splits", "tasks", "task", "prompt", "messages", "call", "version"],
]);

/** Whether no environment may have this name, as paths begin with it that are Presage's own. */
export function isReservedName(name: string): boolean {
  return reserved.has(name);
}
