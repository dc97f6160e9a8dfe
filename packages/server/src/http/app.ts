import { Hono } from "hono";
import { ServiceError } from "../errors.ts";
import type { KeyVerifier } from "../identity/api-keys/verify-api-key.ts";
import type { User } from "../identity/users-store.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { authenticate } from "./authenticate.ts";
import type { HttpEnv } from "./exchange.ts";
import { answerError, type Observers, observe } from "./observe.ts";
import { type ApiKeysArea, apiKeyRoutes } from "./routes/api-keys.ts";
import { docsRoutes } from "./routes/docs.ts";
import { type ErrorTaxonomiesArea, errorTaxonomyRoutes } from "./routes/error-taxonomies.ts";
import { meRoutes } from "./routes/me.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { modelRoutes } from "./routes/models.ts";
import { type PredictionParts, predictionRoutes } from "./routes/predictions.ts";
import { type Phase, probeRoutes } from "./routes/probes.ts";

export interface AppParts {
  phase(): Phase;
  verifier: KeyVerifier;
  predictions: PredictionParts;
  listModels: Upstream["listModels"];
  apiKeys: ApiKeysArea;
  errorTaxonomies: ErrorTaxonomiesArea;
  findUser(userId: string): Promise<User | undefined>;
  observers: Observers;
}

/** Every route of the server. Below `/v1` nothing is open. */
export function createApp(parts: AppParts): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.use(observe(parts.observers, () => parts.phase() === "stopping"));
  const onError = answerError(parts.observers.logger);
  app.onError(onError);
  app.notFound((c) => onError(new ServiceError("not_found", "There is nothing at this path."), c));

  app.route("/", probeRoutes(parts.phase));
  app.route("/", metricsRoutes(parts.observers.metrics.registry));
  app.route("/", docsRoutes());

  app.use("/v1/*", authenticate(parts.verifier));
  app.route("/", predictionRoutes(parts.predictions));
  app.route("/", modelRoutes(parts.listModels));
  app.route("/", meRoutes(parts.findUser));
  app.route("/", apiKeyRoutes(parts.apiKeys, parts.predictions.maxBodyBytes));
  app.route("/", errorTaxonomyRoutes(parts.errorTaxonomies, parts.predictions.maxBodyBytes));
  refuseOtherMethods(app);
  return app;
}

/** A known path asked with a method that it does not have: 405, and which ones it has. */
function refuseOtherMethods(app: Hono<HttpEnv>): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method !== "ALL") methods.set(path, (methods.get(path) ?? new Set()).add(method));
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed].join(", ");
    app.all(path, (c) => {
      c.header("allow", allow);
      throw new ServiceError("method_not_allowed", `This path takes ${allow}.`);
    });
  }
}
