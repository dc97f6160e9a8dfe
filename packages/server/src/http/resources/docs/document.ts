import { createDocument } from "zod-openapi";
import { dashboardPaths } from "../dashboard/openapi.ts";
import { evaluatePaths } from "../evaluate/openapi.ts";
import { evaluatorPaths } from "../evaluators/openapi.ts";
import { predictionPaths } from "../predictions/openapi.ts";
import { probePaths } from "../probes/openapi.ts";
import { evaluatorProfilePaths } from "../profiles/openapi.ts";
import { evaluationResultPaths } from "../results/openapi.ts";
import { errorTaxonomyPaths } from "../taxonomies/openapi.ts";
import { usagePaths } from "../usage/openapi.ts";
import { withForbidden } from "./describe.ts";

/** Version of the interface, which is not the program's. */
const interfaceVersion = "0.1.0";

/** The interface as OpenAPI 3.1, from the very schemas that validate. */
export function openApiDocument() {
  return createDocument({
    openapi: "3.1.1",
    info: {
      title: "Presage",
      version: interfaceVersion,
      description:
        "Predicts the next state of an environment from a state and an action, by a language model, and judges what models put out: by rules and by a model.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }, { bearer: [] }, { session: [] }],
    tags: [
      { name: "prediction", description: "Ask the world model." },
      { name: "dashboard", description: "The calling user, their API keys and their sessions." },
      {
        name: "error taxonomies",
        description: "Trees of the errors that models make, in labelled revisions.",
      },
      { name: "evaluation", description: "Judge the output of models." },
      {
        name: "evaluation results",
        description: "What was judged: found, counted, corrected, imported and exported.",
      },
      {
        name: "evaluators",
        description: "What judges the output of models, and the apps that it was judged for.",
      },
      { name: "evaluator profiles", description: "How evaluators are set up, in revisions." },
      { name: "probes", description: "For load balancers, monitors and people." },
    ],
    paths: withForbidden({
      ...predictionPaths,
      ...dashboardPaths,
      ...usagePaths,
      ...evaluatePaths,
      ...evaluationResultPaths,
      ...evaluatorPaths,
      ...evaluatorProfilePaths,
      ...errorTaxonomyPaths,
      ...probePaths,
    }),
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-KEY" },
        bearer: { type: "http", scheme: "bearer" },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "presage_session",
          description:
            "The session of a browser that is signed in. The cookie's real name ends in an underscore and 8 characters of the server's own, and begins with __Host- on https. Changing calls also need the header X-CSRF-Token.",
        },
      },
    },
  });
}
