import {
  type Experiment,
  ExperimentCreateRequest,
  ExperimentListQuery,
  ExperimentListResponse,
  ExperimentPath,
  ExperimentResponse,
  ExperimentUpdateRequest,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, idempotencyHeader, noSuch, operation, pageTooLarge, response } from "../http/describe.ts";
import { exampleProject } from "../results/projects.ts";

const tag = "experiments";
const exampleExperiment: Experiment = {
  id: "019aa5f3-1b42-7000-9d1e-6a0c4f7e8d22",
  project_id: exampleProject.id,
  name: "qwen3-8b, temperature 0",
  tags: { split: "test" },
  metadata: { seed: 7 },
  created_at: "2026-11-22T03:46:48.120Z",
};
const requestParams = { path: ExperimentPath };

export const experimentPaths: ZodOpenApiPathsObject = {
  "/v1/experiments": {
    get: operation("listExperiments", tag, "List the account's experiments", {
      description: "Returns the experiments of the account or of one project, newest first.",
      requestParams: { query: ExperimentListQuery },
      responses: {
        "200": response("The experiments, newest first", ExperimentListResponse, {
          experiments: [exampleExperiment],
        }),
        ...pageTooLarge,
      },
    }),
    post: operation("createExperiment", tag, "Create an experiment", {
      description:
        "Creates an experiment in a project. Evaluations and imports that name it in experiment_id belong to it and to its project.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ExperimentCreateRequest, {
        project_id: exampleExperiment.project_id,
        name: exampleExperiment.name,
        tags: exampleExperiment.tags,
        metadata: exampleExperiment.metadata,
      }),
      responses: {
        "201": response("The new experiment", ExperimentResponse, { experiment: exampleExperiment }),
      },
    }),
  },
  "/v1/experiments/{id}": {
    get: operation("getExperiment", tag, "Show an experiment", {
      description: "Returns one experiment of the account.",
      requestParams,
      responses: {
        "200": response("The experiment", ExperimentResponse, { experiment: exampleExperiment }),
        ...noSuch("experiment"),
      },
    }),
    post: operation("updateExperiment", tag, "Replace an experiment's metadata", {
      description: "Replaces all of an experiment's metadata. Nothing else of it can change.",
      requestParams,
      requestBody: body(ExperimentUpdateRequest, { metadata: { seed: 7, finished: true } }),
      responses: {
        "200": response("The experiment with its new metadata", ExperimentResponse, {
          experiment: { ...exampleExperiment, metadata: { seed: 7, finished: true } },
        }),
        ...noSuch("experiment"),
      },
    }),
  },
};
