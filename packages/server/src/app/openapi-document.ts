import { createDocument } from "zod-openapi";
import { openEnvDescription } from "../environments/openenv/openenv-route.ts";
import { pathsOf } from "../http/describe.ts";
import { operationsOf } from "./operations.ts";
import { probePaths } from "./probes.ts";
import type { Settings } from "./services.ts";

/** The API's version, not the program's. */
const apiVersion = "0.1.0";

/** The API as OpenAPI 3.1, made from the schemas that validate requests. */
export function openApiDocument(chatCompatibility: Settings["chatCompatibility"] = "strict") {
  return createDocument({
    openapi: "3.1.1",
    info: {
      title: "Presage",
      version: apiVersion,
      description:
        "Uses a language model to predict an environment's next state from a state and an action. Scores model outputs with rules and with a model as judge.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }, { bearer: [] }, { session: [] }],
    tags: [
      { name: "prediction", description: "Predict next states with the world model." },
      { name: "stored predictions", description: "Predictions that were stored, with what was asked." },
      { name: "dashboard", description: "The calling user, their API keys and their sessions." },
      {
        name: "error taxonomies",
        description: "Trees of model errors, in labelled revisions.",
      },
      { name: "evaluation", description: "Score model outputs." },
      {
        name: "evaluation results",
        description: "Search, count, correct, import and export results.",
      },
      {
        name: "evaluators",
        description: "The available evaluators, and the apps that have results.",
      },
      { name: "evaluator profiles", description: "Configurations of evaluators, in revisions." },
      { name: "experiments", description: "Groups of results, in projects." },
      { name: "datasets", description: "Recorded transitions of environments, in immutable revisions." },
      { name: "runs", description: "Predictions for the samples of a dataset, with their verdicts." },
      { name: "environments", description: "Simulated environments for agents to act in." },
      { name: "OpenEnv", description: openEnvDescription },
      { name: "probes", description: "For load balancers, monitors and people." },
    ],
    paths: {
      ...pathsOf(operationsOf(chatCompatibility)),
      ...probePaths,
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-KEY",
          description: "A key, as `POST /v1/api-keys` returns it.",
        },
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "The same key, where OpenAI's clients send it.",
        },
        basic: {
          type: "http",
          scheme: "basic",
          description: "The same key as the password, with any user name. For clients of OpenEnv only.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "presage_session",
          description:
            "The session of a signed-in browser. The actual cookie name ends in an underscore and 8 characters specific to the server, and on https it begins with __Host-. Requests that change something also need the header X-CSRF-Token.",
        },
      },
    },
  });
}
